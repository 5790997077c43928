"""Labels of cells: tables and objects, matching of barcodes, specimens and time points in order."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.metadata import labels_of
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import OptionError, SycladeError, TableError


def matrix_of(*cells: str, labels: dict[str, tuple[str, ...]] | None = None) -> Matrix:
    """Return a matrix with these cells."""
    return Matrix(np.zeros((1, len(cells)), np.uint8), ("M",), "array", cells=cells, labels=labels or {})


AB = matrix_of("a b", "β", "c")


@pytest.mark.parametrize(
    "text",
    [
        "cell\tsample\na b\tP 1\nβ\tP 1\nc\tQ\n",
        "\ufeffcell,sample\r\na b,P 1\r\nβ,P 1\r\nc,Q\r\n",
        "x;Sample;Barcode\n1;P 1;a b\n2;P 1;β\n3;Q;c\n",
        'sample\n"a b",P 1\nβ,P 1\n"c",Q\n\n'.replace(",", "\t"),
    ],
    ids=["tabs", "commas, mark and CRLF", "semicolons, cells in the third column", "written by R"],
)
def test_tables(text: str, tmp_path: Path) -> None:
    path = tmp_path / "lábels.tsv"
    for data in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(data)
        found = labels_of(path, AB)
        assert found is not None
        assert found.specimens == ("P 1", "Q")
        assert found.specimen_of.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "given",
    [
        {"a b": "P", "β": "P", "c": "Q"},
        {"cell": ["c", "a b", "β"], "sample": ["Q", "P", "P"]},
        pandas.DataFrame({"sample": ["P", "P", "Q"]}, index=["a b", "β", "c"]),
        pandas.DataFrame({"when": [1.0, np.nan, 2.0], "barcode": ["a b", "β", "c"], "sample": list("PPQ")}),
    ],
)
def test_objects(given: Any) -> None:
    found = labels_of(given, AB)
    assert found is not None
    assert found.columns["sample"] == ("P", "P", "Q")
    assert found.columns.get("when", ("1", "", "2")) == ("1", "", "2")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("cell\tsample\na\tP\nb\tQ\na\tP\n", 4, "the cell 'a' a second time; first in line 2"),
        ("cell\tsample\na\tP\nb\tQ\tR\n", 3, "the row has 3 fields, but the header 2"),
        ("cell\tsample\na\tP\tx\nb\tQ\tx\n", 2, "the row has 3 fields, but the header 2"),
        ("cell\tsample\tsample\na\tP\tP\n", 1, "the column 'sample' a second time"),
        ("cell\na\n", 1, "there is no column of labels"),
        ("a\tP\nb\tQ\n", 1, "no header: its first line is that of the cell 'a'"),
        ("cell\tsample\n", None, "no rows below its header"),
        ("", None, "the file is empty"),
        ("cell\tsample\nx\tP\ny\tQ\n", None, "is in the matrix: it has x, y, and the matrix a, b"),
    ],
)  # fmt: skip
def test_refused_tables(text: str, line: int | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(text)
    with pytest.raises(TableError, match=words) as caught:
        labels_of(path, matrix_of("a", "b"))
    assert (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("cells", "names", "rows"),
    [
        (("AA-1", "CC-1"), ("AA", "CC"), "PQ"),
        (("AA", "CC"), ("P:AA-1", "P:CC-1"), "PQ"),
        (("P:AA", "Q:CC"), ("CC", "AA"), "QP"),
        (("AA-1", "AA-2"), ("AA", "AA-2"), " Q"),  # the number tells cells apart: not left out
        (("P:AA", "Q:AA"), ("AA", "Q:AA"), " Q"),
    ],
)
def test_barcodes(cells: tuple[str, ...], names: tuple[str, ...], rows: str) -> None:
    found = labels_of(dict(zip(names, "PQ", strict=True)), matrix_of(*cells))
    assert found is not None
    assert "".join(text or " " for text in found.columns["sample"]) == rows


def test_what_does_not_match_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "syclade.input"):
        labels_of({"a": "P", "z": "Q"}, matrix_of("a", "b", "c"))
    assert "2 cells of the matrix are not in the metadata: b, c" in caplog.text
    assert "1 cell of the metadata is not in the matrix: z" in caplog.text
    with caplog.at_level(logging.WARNING, "syclade.input"):
        labels_of({"a": "P", "b": "", "c": "", "d": "Q"}, matrix_of("a", "b", "c", "d"))
    assert "2 cells have nothing in the column sample of the metadata: b, c" in caplog.text


@pytest.mark.parametrize(
    ("days", "order", "numbers"),
    [(("10", "9", "9"), ("Q", "R", "P"), True), (("late", "early", "early"), ("P", "Q", "R"), False)],
)
def test_time_points(days: tuple[str, ...], order: tuple[str, ...], numbers: bool) -> None:
    table = {"cell": list("abc"), "sample": list("PQR"), "day": days, "other": list("xyz")}
    found = labels_of(table, matrix_of("a", "b", "c"), None, "day")
    assert found is not None
    assert (found.specimens, found.in_numbers) == (order, numbers)
    only = labels_of({"cell": list("abc"), "day": days}, matrix_of("a", "b", "c"), None, "day")
    assert only is not None  # without specimens, time points are
    assert set(only.specimens) == set(days)


def test_words_of_time_with_numbers_in_another_order(caplog: pytest.LogCaptureFixture) -> None:
    for days, warned in ((("day 10", "day 9"), True), (("day 9", "day 10"), False), (("b 2", "a"), False)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "syclade.input"):
            labels_of(
                {"cell": ["a", "b"], "sample": ["P", "Q"], "day": days}, matrix_of("a", "b"), None, "day"
            )
        assert ("column day are words" in caplog.text) is warned


def test_refused_columns() -> None:
    table = {"cell": ["a", "b"], "sample": ["P", "P"], "day": ["1", "2"]}
    cells = matrix_of("a", "b")
    with pytest.raises(OptionError, match="the cells of the sample 'P' have several time points"):
        labels_of(table, cells, None, "day")
    with pytest.raises(OptionError, match="--sample-column is 'x', but there is no such column") as caught:
        labels_of(table, cells, "x")
    assert caught.value.hint == "there are sample, day"
    with pytest.raises(OptionError, match="--time-column without labels of cells"):
        labels_of(None, cells, None, "day")
    with pytest.raises(OptionError, match="--metadata is 5"):
        labels_of(5, cells)


def test_labels_of_anndata(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    anndata = pytest.importorskip("anndata")
    cells = [f"c{at}" for at in range(12)]
    obs = pandas.DataFrame(
        {
            "sample": pandas.Categorical(["P"] * 5 + ["Q"] * 6 + [None]),
            "day": [1.5] * 5 + [0.5] * 6 + [np.nan],
            "plate": cells,
        },
        index=cells,
    )
    data = anndata.AnnData(np.ones((12, 2), np.float32), obs=obs)
    data.write_h5ad(tmp_path / "x.h5ad")
    for source in (data, tmp_path / "x.h5ad"):
        matrix = read_matrix(source)
        found = labels_of(None, matrix)
        assert found is not None
        assert (found.specimens, found.specimen_of.tolist()) == (("P", "Q"), [0] * 5 + [1] * 6 + [-1])
        assert list(found.columns) == ["sample", "day"]  # a plate for each cell is no label
        timed = labels_of(None, matrix, None, "day")
        assert timed is not None
        assert (timed.specimens, timed.times) == (("Q", "P"), ("0.5", "1.5"))
    data.obs["sample"] = cells  # a sample for each cell, as plates have
    unasked = labels_of(None, read_matrix(data))
    assert unasked is not None
    assert (unasked.specimens, list(unasked.columns)) == ((), ["day"])
    options = labels_of(None, read_matrix(data), "sample")
    assert options is not None
    assert len(options.specimens) == 12


def test_left_out_cells_have_no_labels() -> None:
    values = np.array([[0, 3, 1], [1, 3, 1]], np.uint8)
    matrix = Matrix(values, ("M", "N"), "array", cells=("a", "b", "c"), labels={"sample": ("P", "Q", "R")})
    assert read_matrix(matrix, max_missing_cell=0.5).labels == {"sample": ("P", "R")}


def test_errors_are_ours(tmp_path: Path) -> None:
    with pytest.raises(SycladeError, match="no such file"):
        labels_of(tmp_path / "none.tsv", AB)


def test_labels_of_merged_tapestri(tmp_path: Path) -> None:
    """Samples of a merged file are labels, also where barcodes repeat; damaged ones are left out."""
    h5py = pytest.importorskip("h5py")
    for barcodes, samples, labels in (
        (["A", "C", "A", "C"], ["P", "P", "Q", "Q"], ("P", "P", "Q", "Q")),
        (["A", "C", "G", "T"], ["P", "P", "Q", "Q"], ("P", "P", "Q", "Q")),
        (["A", "C", "G", "T"], ["P"], None),
    ):
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            assay = file.create_group("assays/dna_variants")
            assay["layers/NGT"] = np.array([[0, 1], [1, 0], [0, 0], [1, 1]], np.int8)
            assay["ca/id"] = np.array(["M", "N"], "S")
            assay["ra/barcode"], assay["ra/sample_name"] = np.array(barcodes, "S"), np.array(samples, "S")
        assert read_matrix(path).labels.get("sample") == labels
