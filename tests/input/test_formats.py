from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.cli.convert import command
from syclade.host.errors import MatrixError, SycladeError
from syclade.host.input.door import read_format
from syclade.host.input.formats import FORMATS
from syclade.host.input.matrix import read_matrix
from tests.fuzz.damage import damaged

SAID = {
    "toy.scite.csv": ("scite", "homozygous", None),
    "toy.bnpc.csv": ("scite", "homozygous", None),
    "toy.SC": ("sc", "homozygous", None),
    "toy.phiscs.SC": ("sc", None, None),
    "toy.comma.csv": ("csv", None, "cells"),
    "toy.rows-are-mutations.tsv": ("tsv", "homozygous", "mutations"),
    "toy.condor.csv": ("condor", None, None),
    "toy.sphyr.B": ("sphyr", None, None),
    "toy.sasc.txt": ("sasc", None, None),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", SAID)
def test_the_same_matrix_in_every_format(shared_dir: Path, tmp_path: Path, name: str) -> None:
    folder = shared_dir / "formats" / "give"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    want = expected["files"][name]
    form, two, rows = SAID[name]
    read = read_format(folder / name, form, two=two, rows=rows)
    assert read.values.tolist() == expected[want["values"]]
    assert read.mutations == tuple(expected.get(want["names"], map(str, range(1, 11))))
    assert read.cells == (tuple(expected["cells"]) if want["cells"] == "cells" else None)
    said = [word for pair in (("--two", two), ("--rows", rows)) if pair[1] for word in pair if word]
    for to, file in (("scite", "matrix.csv"), ("sc", "matrix.SC")):
        out = tmp_path / to
        given = [str(folder / name), "--format", form, *said, "--to", to, "--out", str(out)]
        done = CliRunner().invoke(command, given)
        assert done.exit_code == 0, done.output
        again = read_format(out / file, to, two="homozygous")
        np.testing.assert_array_equal(again.values, read.values)
        assert to == "scite" or again.mutations == read.mutations
    scite = tmp_path / "scite"
    assert read_matrix(scite / "matrix.csv", scite / "matrix.geneNames").mutations == read.mutations


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("scite", "0 1\n2 0\n", "--two"),
        ("csv", "x,a\nc,1\n", "--rows"),
        ("tsv", "x\ta\nc\t1\n", "--rows"),
        ("sc", "x\ta\nc\t2\n", "--two"),
        ("csv", "x,a,cluster_id\nc,1,0\n", "condor"),
        ("condor", "x,a\nc,1\n", "cluster_id"),
        ("condor", "x,a,cluster_id\nc,1\n", "2 fields"),
        ("sphyr", "1 #cells\n3 #SNVs\n0 1\n", "3 mutations"),
        ("sasc", "0 3\n", "no value"),
        ("sc", "x\ta\ta\nc\t1\t0\n", "twice"),
    ],
)
def test_what_is_not_said_is_refused(tmp_path: Path, form: str, text: str, words: str) -> None:
    file = tmp_path / "m"
    file.write_text(text)
    with pytest.raises(MatrixError) as caught:
        read_format(file, form, rows="cells" if "cluster_id" in text and form == "csv" else None)
    assert words in str(caught.value)


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files_end_in_words(tmp_path: Path, form: str) -> None:
    draw, file = Random(1), tmp_path / "m"
    whole = b"2 #cells\n2 #SNVs\n0 1\n-1 0\nx,a,b,cluster_id\nc,0,1,0\nx\ta\tb\nc\t1\t?\nd\t0\t2\n0 1\n"
    for _ in range(300):
        begin = draw.randrange(len(whole))
        file.write_bytes(damaged(whole[begin : draw.randrange(begin, len(whole) + 1)], draw))
        try:
            read = read_format(file, form, two=draw.choice((None, "missing", "homozygous")), rows=None)
        except SycladeError:
            continue
        assert read.values.size
        assert read.values.max() <= 3
