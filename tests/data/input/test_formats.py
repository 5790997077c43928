from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.commands.convert import command
from syclade.host.commands.main import main
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.formats import FORMATS
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.input.source import read_in_subprocess
from syclade.host.ground.errors import MatrixError, SycladeError
from tests.fuzz.damage import damaged

HOMOZYGOUS = {"two": "homozygous"}
MASKS = {"min_depth": 10, "min_gq": 30, "vaf_ref": 5, "vaf_het": 30, "vaf_hom": 95}
SAID: dict[str, tuple[str, dict[str, Any]]] = {
    "toy.scite.csv": ("scite", HOMOZYGOUS),
    "toy.bnpc.csv": ("scite", HOMOZYGOUS),
    "toy.SC": ("sc", HOMOZYGOUS),
    "toy.phiscs.SC": ("sc", {}),
    "toy.comma.csv": ("csv", {"rows": "cells"}),
    "toy.rows-are-mutations.tsv": ("tsv", {"rows": "mutations", **HOMOZYGOUS}),
    "toy.condor.csv": ("condor", {}),
    "toy.sphyr.B": ("sphyr", {}),
    "toy.sasc.txt": ("sasc", {}),
    "toy.vcf": ("vcf", {}),
    "toy.vcf.gz": ("vcf", {}),
    "toy.bcf": ("bcf", {}),
    "toy.monovar.vcf": ("vcf", {}),
    "toy.sciphi.vcf": ("vcf", {"min_depth": 1}),
    "toy.cellsnp": ("cellsnp", {"min_depth": 1}),
    "toy.cellsnp/cellSNP.cells.vcf": ("vcf", {}),
    "toy_variants.csv": ("compass", {}),
    "toy.nogt_variants.csv": ("compass", {"min_depth": 1}),
    "toy.scistree2.txt": ("scistree2", {}),
    "toy.h5ad": ("h5ad", HOMOZYGOUS),
    "toy.nan.h5ad": ("h5ad", {}),
    "toy.sparse.h5ad": ("h5ad", HOMOZYGOUS),
    "toy.slash.h5ad": ("h5ad", HOMOZYGOUS),
    "toy.scphylo-readcount.h5ad": ("h5ad", {"layer": "genotype", "coding": "cyvcf2"}),
    "toy.tapestri.h5": ("tapestri", {}),
    "toy.tapestri-merged.h5": ("tapestri", {}),
    "toy.tapestri-raw.h5": ("tapestri", MASKS),
    "toy.tapestri.loom": ("loom", {}),
}
NEEDS_FORMAT = {"toy.comma.csv", "toy.rows-are-mutations.tsv", "toy.sasc.txt"}
"""Files that do not show their format: auto refuses them, or takes SASC's for SCITE's and refuses its 2."""

NOT_COLLECTED = {"sifit", "long", "mquad", "folder"}
"""Formats of which the collection has no file."""

SLOW = "toy.sparse.h5ad"
"""anndata reads it, in a separate process that needs seconds to start."""


@pytest.fixture
def given(shared_dir: Path) -> tuple[Path, dict[str, Any]]:
    folder = shared_dir / "formats" / "give"
    return folder, json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.shared
def test_every_file_of_the_collection_is_tried(given: tuple[Path, dict[str, Any]]) -> None:
    assert set(SAID) == set(given[1]["files"])
    assert {form for form, _ in SAID.values()} == set(FORMATS) - NOT_COLLECTED


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "auto"),
    [
        *((name, False) for name in SAID if name != SLOW),
        pytest.param(SLOW, False, marks=pytest.mark.verification),
        *((name, True) for name in SAID),
    ],
)
def test_the_same_matrix_in_every_format(
    given: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    auto: bool,
) -> None:
    # Conversions below ask for the same; another process reads it once.
    monkeypatch.setattr(door, "read_in_subprocess", cache(read_in_subprocess))
    folder, expected = given
    form, said = SAID[name]
    want = expected["files"][name]
    form = form if not auto or name in NEEDS_FORMAT else "auto"
    read = read_matrix(folder / name, format=form, **said)
    numbered = [(f"s{row}" if want["names"] == "s0.." else str(row + 1)) for row in range(10)]
    names = expected.get(want["names"], numbered)
    order = list(range(10))
    if "order" in want:
        order.sort(key=lambda row: (names[row].split(":")[0], int(names[row].split(":")[1])))
    assert read.values.tolist() == [expected[want["values"]][row] for row in order]
    assert read.mutations == tuple(names[row] for row in order)
    assert read.cells == (None if want["cells"] == "numbers" else tuple(expected[want["cells"]]))
    options = [word for key, value in said.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    for to, file in (("scite", "matrix.csv"), ("sc", "matrix.SC")):
        out = tmp_path / to
        words = [str(folder / name), "--format", form, *options, "--to", to, "--out", str(out)]
        done = CliRunner().invoke(command, words)
        assert done.exit_code == 0, done.output
        again = read_matrix(out / file, format=to, two="homozygous")
        np.testing.assert_array_equal(again.values, read.values)
        assert to == "scite" or again.mutations == read.mutations
    scite = tmp_path / "scite"
    assert read_matrix(scite / "matrix.csv", scite / "matrix.geneNames").mutations == read.mutations


TRAPS = {
    "toy.scphylo-readcount.h5ad": "--layer genotype --coding cyvcf2",
    "toy.SC": "--two",
    "toy.h5ad": "--two",
    "toy.scite.csv": "--two",
    "toy.sasc.txt": "--format sasc",
    "toy.comma.csv": "--format csv --rows",
    "toy.rows-are-mutations.tsv": "--format tsv --rows",
    "toy.sciphi.vcf": "--min-depth",
    "toy.cellsnp": "--min-depth",
    "toy.nogt_variants.csv": "--min-depth",
    "expected.json": "0, 1, 2 or 3",
}


@pytest.mark.shared
@pytest.mark.parametrize("name", TRAPS)
def test_traps_are_refused_and_their_option_is_named(
    shared_dir: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = shared_dir / "formats" / "give" / name
    with pytest.raises(SystemExit) as caught:
        main(["convert", str(file), "--out", str(tmp_path / "out")])
    assert caught.value.code == 2
    assert TRAPS[name] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
        ("sasc", "0 3\n", "not a value"),
        ("vcf", "##source=SCIPhI\n#CHROM\t\t\t\t\t\t\t\t\tc\n", "--min-depth"),
        (
            "bcf",
            "##fileformat=VCFv4.1\n##source=SCIPhI\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tc\n",
            "--min-depth",
        ),
        ("vcf", "#CHROM\t\t\t\t\t\t\t\t\tc\n1\t2\t.\tA\tG\t.\t.\t.\tDP\t3\n", "no record"),
        ("vcf", "#CHROM\t\t\t\t\t\t\t\t\tc\n1\t2\t.\tA\tG\t.\t.\t.\tGT\tx\n", "not a genotype"),
        ("compass", "NAME,c\na,3:1\n", "--min-depth"),
        ("compass", "NAME,c\na,3\n", "ref:alt"),
        ("scistree2", "HAPLOID 1 2\n0.1 1.5\n", "not a probability"),
        ("scistree2", "DIPLOID 1 2\n0.1 0.5\n", "HAPLOID"),
        ("sc", "x\ta\ta\nc\t1\t0\n", "twice"),
    ],
)
def test_what_is_not_said_is_refused(tmp_path: Path, form: str, text: str, words: str) -> None:
    file = tmp_path / "m"
    file.write_text(text)
    with pytest.raises(MatrixError) as caught:
        read_matrix(file, format=form, rows="cells" if "cluster_id" in text and form == "csv" else None)
    assert words in str(caught.value)


APART = [form for form, one in FORMATS.items() if one.in_subprocess]
"""Formats whose libraries read each file in a separate process, which takes half a second."""


@pytest.mark.parametrize(
    ("form", "files"),
    [
        *((form, 1 if form in APART else 300) for form in FORMATS),
        *(pytest.param(form, 300, marks=pytest.mark.verification) for form in APART),
    ],
)
def test_damaged_files_end_in_words(tmp_path: Path, form: str, files: int) -> None:
    draw, file = Random(1), tmp_path / "m"
    whole = b"2 #cells\n2 #SNVs\n0 1\n-1 0\nx,a,b,cluster_id\nc,0,1,0\nx\ta\tb\nc\t1\t?\nd\t0\t2\n0 1\n"
    for _ in range(files):
        begin = draw.randrange(len(whole))
        file.write_bytes(damaged(whole[begin : draw.randrange(begin, len(whole) + 1)], draw))
        try:
            read = read_matrix(file, format=form, two=draw.choice((None, "missing", "homozygous")), rows=None)
        except SycladeError:
            continue
        assert read.values.size
        assert read.values.max() <= 3


@pytest.mark.shared
def test_records_of_vcf_that_are_not_plain(shared_dir: Path) -> None:
    folder = shared_dir / "formats" / "give"
    want = json.loads((folder / "expected.json").read_text("utf-8"))["edge.vcf"]
    read = read_matrix(folder / "edge.vcf", format="vcf")
    rows = dict(zip(read.mutations, read.values.tolist(), strict=True))
    assert rows == {name: row for name, row in want.items() if name != "skipped"}


def test_gzipped_files_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.gz"
    whole = gzip.compress(b"0 1 3\n1 0 0\n")
    file.write_bytes(whole)
    read = read_matrix(file, format="scite")
    assert read.values.tolist() == [[0, 1, 3], [1, 0, 0]]
    assert read.file_sha256 == hashlib.sha256(whole).hexdigest()
    for broken in (whole[:-6], whole[:12] + b"\xff\xff" + whole[14:], whole[:2]):
        file.write_bytes(broken)
        with pytest.raises(MatrixError, match=r"unzip|cannot be read"):
            read_matrix(file, format="scite")
