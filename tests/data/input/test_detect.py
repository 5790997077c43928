"""Detection of formats: small, deep and wide files of each, plain and gzipped; and what no format fits."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.data.input import source
from syclade.host.data.input.detect import HDF5, detect_folder, detect_format
from syclade.host.data.input.formats import FORMATS
from syclade.host.data.input.formats.hdf import hdf5_format
from syclade.host.data.input.source import Source
from syclade.host.ground.errors import MatrixError, OptionError, SycladeError
from tests.support.formats import Named, write_forms

NAMES = {
    "matrix.csv": "scite",
    "matrix.SC": "sc",
    "condor.csv": "condor",
    "r.tsv": "tsv",
    "excel.csv": "csv",
    "table.tsv": "tsv",
    "table.csv": "csv",
    "sphyr.B": "sphyr",
    "calls.vcf": "vcf",
    "calls.bcf": "bcf",
    "compass.csv": "compass",
    "scistree.txt": "scistree2",
    "data.h5ad": "h5ad",
    "tapestri.h5": "tapestri",
    "tapestri.loom": "loom",
    "cellsnp": "cellsnp",
    "mquad": "mquad",
    "folder": "folder",
    "long.tsv": "long",
    "reads.h5ad": "h5ad",
    "sasc.txt": "scite",
}
"""The format of each file; SASC's looks like SCITE's, and its 2 is refused when it is read."""

BINARY = {
    "calls.bcf": "compressed twice",
    **dict.fromkeys(("data.h5ad", "reads.h5ad", "tapestri.h5", "tapestri.loom"), "gunzip"),
}
"""The message for a binary file that was gzipped."""

SIZES = {"toy": (6, 4), "2000x100": (2000, 100), "100x5000": (100, 5000)}
"""Cells and mutations. Header and first row of the larger ones have more than 64 KiB in some formats."""


@pytest.fixture(scope="module", params=SIZES)
def forms(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    n_cells, n_mutations = SIZES[request.param]
    values = np.random.default_rng(1).choice(np.array((0, 1, 3), np.uint8), (n_mutations, n_cells))
    mutations = tuple(f"{1 + at % 3}:{10**8 + at}:A/G" for at in range(n_mutations))
    cells = tuple(f"cell-{at:030}" for at in range(n_cells))
    return write_forms(tmp_path_factory.mktemp(request.param), Named(values, mutations, cells))


def detected(path: Path) -> str:
    """Return the detected format, without a separate process for the library of HDF5."""
    given = Source.of(path)
    form = detect_folder(given.name) if given.is_folder else detect_format(given.head(), given.name)
    return hdf5_format(path) if form == HDF5 else form


def test_all_formats_are_tried() -> None:
    assert {*NAMES.values(), "sifit", "sasc"} == set(FORMATS)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("name", [*NAMES])
def test_detected_or_one_true_message(
    forms: dict[str, Path], tmp_path: Path, name: str, packed: bool
) -> None:
    path = forms[name]
    if packed and path.is_file():
        path = tmp_path / "packed"
        path.write_bytes(gzip.compress(forms[name].read_bytes(), 1))
    words = BINARY.get(name) if packed else None
    if words is None:
        assert detected(path) == NAMES[name]
        return
    with pytest.raises(MatrixError, match=words):
        detected(path)


@pytest.mark.parametrize("size", [3, 4, 5, 2000])
def test_numbers_of_rows(tmp_path: Path, size: int) -> None:
    """Up to four of them may be values."""
    path = tmp_path / "x"
    path.write_text("".join(f"{at} 0 1\n" for at in range(size)))
    assert detected(path) == ("sifit" if size > 4 else "scite")


def test_a_large_anndata_is_read(tmp_path: Path) -> None:
    """Its groups obs and var are behind X, which anndata writes first."""
    import h5py

    values = np.random.default_rng(1).choice(np.array((0, 1, 3), np.uint8), (400, 200))
    with h5py.File(tmp_path / "x", "w") as file:
        file["X"] = values
        for part, count in zip(("obs", "var"), values.shape, strict=True):
            file[f"{part}/_index"] = [f"{part}{at}" for at in range(count)]
    np.testing.assert_array_equal(syclade.read_matrix(tmp_path / "x").values, values.T)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (["mod/rna", "mod/dna", "obs", "var"], "MuData.*\nhint: .*there are dna, rna"),
        (["a", "matrix"], "contains 'a, matrix', but not obs and var"),
        ([], "contains nothing, but not"),
    ],
)
def test_other_hdf5_files(tmp_path: Path, groups: list[str], words: str) -> None:
    import h5py

    with h5py.File(tmp_path / "x", "w") as file:
        for name in groups:
            file.create_group(name)
    with pytest.raises(MatrixError, match=words):
        syclade.read_matrix(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a|b\n0|1\n", ":1:1: ", "'a|b' (row 1, cell 1) is not 0, 1, 2 or 3 (scite)"),
        ("\n a|b\n0|1\n", ":2:2: ", "no HAPLOID (scistree2)"),
        ("x,a,b\nc,1\n", ":1:1: ", "3 and 2 fields in the first two lines (csv)"),
        ("x,a,b\n", ":1:1: ", "only one line (csv)"),
        ("NAME,c\na,0:2,x:1\n", ":1:1: ", "'x:1' is not ref:alt or ref:alt:genotype (compass)"),
        ('"chr2"\t0\t4\t"C"\t1\t1\n' * 2, ":1:1: ", "no name and values in the second line (tsv)"),
        ('x,"a\n', ":1:1: ", "no number and #cells (sphyr)"),
        ("x," + "a" * 200000 + "\nc,1\n", ":1:1: ", "no table: field larger than field limit (131072) (csv)"),
    ],
)
def test_no_format_fits(tmp_path: Path, text: str, place: str, words: str) -> None:
    """One message names every format that is detected, and why the file does not have it."""
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(MatrixError) as caught:
        syclade.read_matrix(path)
    report = str(caught.value)
    assert report.startswith(f"{path}{place}no format fits: ")
    assert words in report
    assert all(name in report for name in FORMATS if name not in ("sasc", "cellsnp", "mquad", "folder"))
    assert "--format" in str(caught.value.hint)
    assert ("--format long, and which columns" in report) == text.startswith('"chr2"')
    assert len(report) < 1200


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("M1,0,maybe,1", "'maybe' (value 2 of the row, column 'c2') is not a value of a table"),
        ("M1,0,1,maybe", "'maybe' (value 3 of the row, column 'c3') is not a value of a table"),
        ("M1,0/1,1,0", "'0/1' (value 1 of the row, column 'c1') is not a value of a table"),
    ],
)
def test_a_word_in_a_table_is_named(tmp_path: Path, row: str, words: str) -> None:
    path = tmp_path / "made.csv"
    path.write_text(f"gene,c1,c2,c3\n{row}\nM2,1,0,1\n")
    with pytest.raises(MatrixError) as caught:
        syclade.read_matrix(path)
    assert str(caught.value).startswith(f"{path}:2: {words}")
    assert len(str(caught.value)) < 350
    path.write_text(f"gene,c1,c2,c3\n{row.replace('maybe', '1').replace('0/1', '1')}\nM2,1,0,1\n")
    assert syclade.read_matrix(path, rows="mutations").values.shape == (2, 3), "the control is read"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\n0 -2\n", "3 .missing.; SCITE's format is assumed"),
        ("0 1 0\n1 1 1\n2 0 1\n3 0 1\n4 5 0\n", "begins with its number.*; SCITE's format is assumed"),
        ("0 NB 1\n", "SCITE's format is assumed"),
    ],
)
def test_an_assumed_format_is_reported(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(MatrixError, match=words):
        syclade.read_matrix(path)
    with pytest.raises(MatrixError) as caught:
        syclade.read_matrix(path, format="scite")
    assert "SCITE's format is assumed" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        ("a,b\n0,1\n".encode("utf-16"), "UTF-16"),
        (b",A,B,C,D,batch\nc1,1,0,1,0,B\nc2,0,0,1,1,A\n", r"2: 'B' \(value 5 of the row\) is not a value"),
    ],
)
def test_the_reason_is_in_the_file_and_not_in_the_options(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    given: list[dict[str, Any]] = [{"rows": "cells"}, {"rows": "cells", "min_depth": 5}]
    for options in given[: 1 if b"," in content else 2]:
        with pytest.raises(MatrixError, match=words):
            syclade.read_matrix(path, **options)


def test_twos_that_may_be_missing_are_hinted_at(tmp_path: Path) -> None:
    path = tmp_path / "sasc.txt"
    path.write_text("0 1 2\n1 2 0\n")
    with pytest.raises(MatrixError, match="SASC's files, of cells: --format sasc"):
        syclade.infer(path, fp_rate=0.01, fn_rate=0.1)


def test_options_name_a_format_that_was_not_given(forms: dict[str, Path]) -> None:
    with pytest.raises(OptionError, match="--min-depth does not go with --format scite, which is assumed"):
        syclade.read_matrix(forms["matrix.csv"], min_depth=5)
    with pytest.raises(OptionError, match="--layer does not go with --format sc, which was detected"):
        syclade.read_matrix(forms["matrix.SC"], layer="x")
    with pytest.raises(OptionError, match=r"--layer does not go with --format sc\n"):
        syclade.read_matrix(forms["matrix.SC"], format="sc", layer="x")


@pytest.mark.parametrize(
    "text", ["3\n4\n1 0 1 -1\n0 0 0 0\n1 1 1 1\n", "3 #cells\n4 #SNVs\n1 0 1 -1\n0 0 0 0\n1 1 1 1\n"]
)
def test_sizes_of_sphyr_without_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    matrix = syclade.read_matrix(path)
    assert matrix.values.tolist() == [[1, 0, 1], [0, 0, 1], [1, 0, 1], [3, 0, 1]]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_the_beginning_is_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    """It is bounded: a file may have no line ends."""
    line, path = "0 1 " * 50000, tmp_path / "x"
    path.write_bytes(f"{end}{line}{end}{end}{line}{end}{line}{end}{'0' * 10**6}".encode())
    head = Source.of(path).head()
    assert head.count(line.encode() + end.encode()) >= 2
    assert len(head) < 10**6
    with path.open("rb") as stream:
        assert Source.of(stream).head() == head
    path.write_bytes(gzip.compress(path.read_bytes()[:1000], 1) + gzip.compress(path.read_bytes()[1000:], 1))
    assert Source.of(path).head() == head
    monkeypatch.setattr(source, "MOST_LINE", 2**17)
    path.write_bytes(b"0 " * 2**20)
    assert len(Source.of(path).head()) <= 2**19
    with pytest.raises(MatrixError, match="the line has more than 0 MiB"):
        syclade.read_matrix(path)


REAL: dict[str, str | tuple[int, int]] = {
    "formats/real/CRC1.SCITE.input": (16, 178),
    "formats/real/CRC1.SCITE.output": (16, 178),
    "formats/real/CRC1.SPhyR.input": (16, 178),
    "formats/real/bnpc_data.csv": (100, 100),
    "formats/real/cellsnp_csp_mode1": "--min-depth N",
    "formats/real/condor_overview.csv": (25, 25),
    "formats/real/mquad_12x31.vcf.gz": (12, 31),
    "formats/real/sasc_sim10.txt": "--format sasc",
    "formats/real/CRC1_SNV.labels": "no format fits",
    "formats/real/condor_overview.newick": "no format fits",
    "formats/real/sasc_sim10_truetree.gv": "no format fits",
    "reality/formats/CRC1.SiFit.input": (16, 178),
    "reality/formats/sifit_20cells.txt": (446, 20),
    "reality/formats/mquad": "--min-depth N",
    "reality/formats/phertilizer_variant_counts.tsv.gz": "no format fits",
    "reality/formats/condor_sample_overview_read_count.csv": "--rows cells",
    "reality/formats/cellphy_crc24.vcf": (500, 25),
    "reality/formats/condor_PDAC_sphyr_input.txt": (7, 2153),
}
"""Published files: the mutations and cells that are read, or a part of the message."""


@pytest.mark.shared
@pytest.mark.parametrize("name", REAL)
def test_published_files(shared_dir: Path, name: str) -> None:
    report = REAL[name]
    if isinstance(report, tuple):
        assert syclade.read_matrix(shared_dir / name).values.shape == report
        return
    with pytest.raises(MatrixError) as caught:
        syclade.read_matrix(shared_dir / name, strict=True)
    assert report in str(caught.value)
    assert caught.value.hint


@pytest.mark.shared
def test_other_published_files_are_read_or_refused_with_a_hint(shared_dir: Path) -> None:
    folders = (shared_dir / "formats" / "real", shared_dir / "reality" / "formats")
    others = [path for folder in folders for path in folder.iterdir()]
    others = [path for path in others if str(path.relative_to(shared_dir)) not in REAL]
    assert others
    refused: dict[str, SycladeError] = {}
    for path in others:
        try:
            assert syclade.read_matrix(path).values.size
        except SycladeError as problem:
            refused[str(path)] = problem
    assert all(str(problem).startswith(path) and problem.hint for path, problem in refused.items()), refused


@pytest.mark.shared
@pytest.mark.parametrize(
    ("every", "without", "of_two", "in_all"),
    [(8, 1, 3, 9), pytest.param(1, 2, 5, 68, marks=pytest.mark.verification)],
)
def test_published_tables_of_compass(
    shared_dir: Path, every: int, without: int, of_two: int, in_all: int
) -> None:
    """Two have no variants, and five have two of one name."""
    read, refused, renamed = 0, [], 0
    for path in sorted((shared_dir / "reality" / "panel").glob("*_variants.csv.gz"))[::every]:
        header = gzip.decompress(path.read_bytes()).split(b"\n", 1)[0].decode()
        names = header.strip().split(",")
        cells = len(names) - sum(
            name in ("CHR", "POS", "REF", "ALT", "REGION", "NAME", "FREQ") for name in names
        )
        try:
            matrix = syclade.read_matrix(path)
        except MatrixError as problem:
            refused.append(problem.message)
            continue
        assert matrix.n_cells == cells
        renamed += any(name.count(":") >= 2 for name in matrix.mutations)
        read += 1
    assert refused == ["the table has a header, but no rows of variants"] * without
    assert (read, renamed) == (in_all - without, of_two)
