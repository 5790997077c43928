"""Warnings of matrices that look wrong: exchanged rows, mutations in all cells, words for values."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import MatrixError

BARCODES = ("AACCTGAGTCGA-1", "AACCTGAGGGGA-1", "TTCCTGAGTCGA-1", "AACTTTAGTCGA-1")
VARIANTS = ("chr1:1234:A/T", "TP53 p.R175H", "12:25398284:C/T", "NPM1 p.W288fs")


def table_of(rows: tuple[str, ...], columns: tuple[str, ...]) -> str:
    lines = [
        f"{name}," + ",".join("01"[(at + one) % 2] for one in range(len(columns)))
        for at, name in enumerate(rows)
    ]
    return "\n".join([",".join(("", *columns)), *lines]) + "\n"


@pytest.mark.parametrize(
    ("rows", "columns", "exchanged"),
    [(VARIANTS, BARCODES, False), (BARCODES, VARIANTS, True), (BARCODES, ("A", "B"), True),
     (("TP53", "CATTAG", "GATA2"), ("s1", "s2", "s3"), False), (("A", "B"), VARIANTS, True)],
)  # fmt: skip
def test_names_tell_exchanged_rows(
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    exchanged: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "made.csv"
    path.write_text(table_of(rows, columns))
    read_matrix(path, rows="mutations")
    assert ("rows and columns may be exchanged" in caplog.text) is exchanged
    caplog.clear()
    path.write_text(table_of(columns, rows))
    read_matrix(path, rows="cells")
    assert ("rows and columns may be exchanged" in caplog.text) is exchanged


@pytest.mark.parametrize(("mutations", "cells", "warns"), [(60, 6, True), (59, 6, False), (2000, 200, False)])
def test_many_more_mutations_than_cells_are_pointed_out(
    mutations: int, cells: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "syclade.input"):
        read_matrix(np.eye(mutations, cells, dtype=np.uint8))
    assert ("if its rows are cells" in caplog.text) is warns


def vcf_of(names: tuple[str, ...], samples: tuple[str, ...], records: int) -> str:
    """Return a VCF in which every sample has the first variant alone."""
    head = "\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *samples))
    lines = ["##fileformat=VCFv4.2", head]
    for at in range(records):
        calls = ["0/1" if at == number % 2 else "0/0" for number in range(len(samples))]
        name = names[at] if at < len(names) else "."
        lines.append("\t".join(("1", str(at + 1), name, "A", "C", ".", ".", ".", "GT", *calls)))
    return "\n".join(lines) + "\n"


def test_a_vcf_has_no_rows_and_columns_to_exchange(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "made.vcf"
    path.write_text(vcf_of((), ("s1", "s2", "s3"), 60))
    with caplog.at_level(logging.INFO, "syclade.input"):
        read_matrix(path)
    assert (
        "60 mutations of 3 cells: each has to be a single cell, and so few leave most orders open"
        in caplog.text
    )
    assert "exchanged" not in caplog.text
    caplog.clear()
    path.write_text(vcf_of(BARCODES, VARIANTS, len(BARCODES)))
    read_matrix(path, name_by="id")
    words = f"{BARCODES[0]} looks like the name of a cell, and is that of one of the mutations"
    assert f"{words}: check the names in the file" in caplog.text
    assert "exchanged" not in caplog.text


@pytest.mark.parametrize(("seen", "cells", "warns"), [(19, 20, True), (18, 20, False), (19, 19, False)])
def test_mutations_in_nearly_all_cells_may_be_germline(
    seen: int, cells: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    values = np.zeros((2, cells + 5), dtype=np.uint8)
    values[0, :seen], values[0, cells:] = 1, 3
    read_matrix(values, ("first", "second"))
    assert (
        "1 mutation is seen in at least 95 % of the cells with a value (first 95.0%)" in caplog.text
    ) is warns


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("MUT", "write 1 for words"),
        ("0/1", "write 0 for 0/0"),
        ("0.25", "--evidence likelihoods --coding probability"),
        ("1e-5", "--coding probability"),
        ("52", "a table of numbers of alternate reads needs one of all reads, --total-reads FILE"),
    ],
)
def test_other_values_of_tables_are_named_with_what_to_do(value: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text(f",c1,c2,c3,c4\nA,{value},{value},{value},{value}\nB,{value},{value},{value},{value}\n")
    with pytest.raises(MatrixError) as problem:
        read_matrix(path, rows="mutations")
    assert (problem.value.line, problem.value.message.split(" ")[0]) == (2, repr(value))
    assert words in str(problem.value.hint)


def test_a_result_has_them_too_and_says_them_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """A report, or a table of a cohort, is read without the terminal."""
    values = np.array([[1] * 30, [1] * 15 + [0] * 15, [0] * 20 + [1] * 10], dtype=np.uint8)
    lines = [
        f"{name},{','.join(map(str, row))}"
        for name, row in zip(("first", "second", "third"), values.tolist(), strict=True)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([",".join(["", *(f"c{at}" for at in range(30))]), *lines]) + "\n")
    given: dict[str, Any] = {
        "rows": "mutations",
        "fp_rate": 0.01,
        "fn_rate": 0.1,
        "support": "none",
        "device": "native",
    }
    result = syclade.infer(table, format="csv", **given)
    (words,) = [one for one in result.warnings if "first 100.0%" in one]
    assert caplog.text.count(words) == 1
    assert result.summary()["input_warnings"] == [words]
    page = result.report()
    assert ">Input</h3>" in page
    assert "first 100.0%" in page
    assert "Jahn" in page
    table.write_text(table.read_text().replace("first,1,1,1", "first,0,0,0"))
    control = syclade.infer(table, format="csv", **given)
    assert "input_warnings" not in control.summary()


@pytest.mark.parametrize(("alone", "named"), [(15, True), (5, False)])
def test_lost_alleles_are_named(alone: int, named: bool) -> None:
    """Of 25 cells with a mutation, some have alternate reads alone; those with few reads do not count."""
    alternate = np.array([[9] * alone + [5] * (25 - alone) + [0] * 30 + [2] * 40, [0] * 70 + [4] * 25])
    total = np.array([[9] * 25 + [8] * 30 + [2] * 40, [8] * 95])
    found = read_matrix(alternate, total_reads=total, evidence="reads").warnings
    assert any("1 60%" in words and "all reads are alternate" in words for words in found) is named
    calls = read_matrix(alternate, total_reads=total, min_depth=1).warnings
    assert not any("all reads are alternate" in words for words in calls)
