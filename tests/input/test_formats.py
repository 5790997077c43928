from __future__ import annotations

import gzip
import hashlib
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

SAID: dict[str, tuple[str, str | None, str | None] | tuple[str, str | None, str | None, int]] = {
    "toy.scite.csv": ("scite", "homozygous", None),
    "toy.bnpc.csv": ("scite", "homozygous", None),
    "toy.SC": ("sc", "homozygous", None),
    "toy.phiscs.SC": ("sc", None, None),
    "toy.comma.csv": ("csv", None, "cells"),
    "toy.rows-are-mutations.tsv": ("tsv", "homozygous", "mutations"),
    "toy.condor.csv": ("condor", None, None),
    "toy.sphyr.B": ("sphyr", None, None),
    "toy.sasc.txt": ("sasc", None, None),
    "toy.vcf": ("vcf", None, None),
    "toy.vcf.gz": ("vcf", None, None),
    "toy.monovar.vcf": ("vcf", None, None),
    "toy.sciphi.vcf": ("vcf", None, None, 1),
    "toy.cellsnp/cellSNP.cells.vcf": ("vcf", None, None),
    "toy_variants.csv": ("compass", None, None),
    "toy.nogt_variants.csv": ("compass", None, None, 1),
    "toy.scistree2.txt": ("scistree2", None, None),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", SAID)
def test_the_same_matrix_in_every_format(shared_dir: Path, tmp_path: Path, name: str) -> None:
    folder = shared_dir / "formats" / "give"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    want = expected["files"][name]
    form, two, rows, depth = (*SAID[name], None)[:4]
    read = read_format(folder / name, form, two=two, rows=rows, min_depth=depth)
    numbered = [(f"s{row}" if want["names"] == "s0.." else str(row + 1)) for row in range(10)]
    names = expected.get(want["names"], numbered)
    order = list(range(10))
    if "order" in want:
        order.sort(key=lambda row: (names[row].split(":")[0], int(names[row].split(":")[1])))
    assert read.values.tolist() == [expected[want["values"]][row] for row in order]
    assert read.mutations == tuple(names[row] for row in order)
    assert read.cells == (tuple(expected["cells"]) if want["cells"] == "cells" else None)
    options = (("--two", two), ("--rows", rows), ("--min-depth", depth and str(depth)))
    said = [word for pair in options if pair[1] for word in pair if word]
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
        ("vcf", "##source=SCIPhI\n#CHROM\t\t\t\t\t\t\t\t\tc\n", "--min-depth"),
        ("vcf", "#CHROM\t\t\t\t\t\t\t\t\tc\n1\t2\t.\tA\tG\t.\t.\t.\tDP\t3\n", "no record"),
        ("vcf", "#CHROM\t\t\t\t\t\t\t\t\tc\n1\t2\t.\tA\tG\t.\t.\t.\tGT\tx\n", "no genotype"),
        ("compass", "NAME,c\na,3:1\n", "--min-depth"),
        ("compass", "NAME,c\na,3\n", "ref:alt"),
        ("scistree2", "HAPLOID 1 2\n0.1 1.5\n", "no probability"),
        ("scistree2", "DIPLOID 1 2\n0.1 0.5\n", "HAPLOID"),
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


@pytest.mark.shared
def test_records_of_vcf_that_are_not_plain(shared_dir: Path) -> None:
    folder = shared_dir / "formats" / "give"
    want = json.loads((folder / "expected.json").read_text("utf-8"))["edge.vcf"]
    read = read_format(folder / "edge.vcf", "vcf")
    rows = dict(zip(read.mutations, read.values.tolist(), strict=True))
    assert rows == {name: row for name, row in want.items() if name != "skipped"}


def test_gzipped_files_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.gz"
    whole = gzip.compress(b"0 1 3\n1 0 0\n")
    file.write_bytes(whole)
    read = read_format(file, "scite")
    assert read.values.tolist() == [[0, 1, 3], [1, 0, 0]]
    assert read.sha256 == hashlib.sha256(whole).hexdigest()
    for broken in (whole[:-6], whole[:12] + b"\xff\xff" + whole[14:], whole[:2]):
        file.write_bytes(broken)
        with pytest.raises(MatrixError, match=r"unzip|cannot be read"):
            read_format(file, "scite")
