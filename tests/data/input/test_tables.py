"""Tables as R, pandas and spreadsheets write them, and the formats of SiFit and SPhyR."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from syclade.host.commands.convert import command
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import MatrixError

GENES, CELLS = ("TP53", "NRAS", "FLT3"), ("c1", "c2", "c3")
VALUES = [[0, 1, 1], [1, 0, 1], [0, 1, 3]]  # of three genes in three cells

LAYOUTS = {
    # R: write.table(m, sep = "\t"), with quote = FALSE and TRUE
    "r-tabs": "TP53\tNRAS\tFLT3\nc1\t0\t1\t0\nc2\t1\t0\t1\nc3\t1\t1\tNA\n",
    "r-quoted": '"TP53"\t"NRAS"\t"FLT3"\n"c1"\t0\t1\t0\n"c2"\t1\t0\t1\n"c3"\t1\t1\tNA\n',
    # R: write.table(m), with and without quotes
    "r-blanks": '"TP53" "NRAS" "FLT3"\n"c1" 0 1 0\n"c2" 1 0 1\n"c3" 1 1 NA\n',
    "r-bare-blanks": "TP53 NRAS FLT3\nc1  0 1  0\nc2 1 0 1\nc3 1 1 NULL\n",
    # R: write.csv(m), write.csv2(m), and write.csv of a tibble with a column of names
    "r-csv": '"","TP53","NRAS","FLT3"\n"c1",0,1,0\n"c2",1,0,1\n"c3",1,1,NA\n',
    "r-csv2": '"";"TP53";"NRAS";"FLT3"\n"c1";0;1;0\n"c2";1;0;1\n"c3";1;1;NA\n',
    "r-tibble": '"","cell","TP53","NRAS","FLT3"\n"1","c1",0,1,0\n"2","c2",1,0,1\n"3","c3",1,1,NA\n',
    "r-tibble-tabs": '"cell"\t"TP53"\t"NRAS"\t"FLT3"\n1\tc1\t0\t1\t0\n2\tc2\t1\t0\t1\n3\tc3\t1\t1\t-1\n',
    # pandas, and spreadsheets of countries with a decimal comma
    "pandas-floats": ",TP53,NRAS,FLT3\nc1,0.0,1.0,0.0\nc2,1.0,0.0,1.0\nc3,1.0,1.0,\n",
    "pandas-numbers": ",cell,TP53,NRAS,FLT3\n0,c1,0,1,0\n1,c2,1,0,1\n2,c3,1,1,None\n",
    "excel-decimals": "cell;TP53;NRAS;FLT3\r\nc1;0,0;1,00;0,0\r\nc2;1,0;0,0;1,0\r\nc3;1,0;1,0;\r\n",
    "excel-no-corner": "TP53;NRAS;FLT3\nc1;0,0;1,0;0,0\nc2;1,0;0,0;1,0\nc3;1,0;1,0;NA\n",
    "excel-quoted": '"cell";"TP53";"NRAS";"FLT3"\n"c1";"0";"1";"0"\n"c2";"1";"0";"1"\n"c3";"1";"1";"null"\n',
    "excel-empty-ends": "cell,TP53,NRAS,FLT3,,\nc1,0,1,0,,\nc2,1,0,1,,\nc3,1,1,-,,\n,,,,,\n,,,,,\n",
}
"""The values in tables whose rows are cells."""


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_tables(tmp_path: Path, name: str) -> None:
    file = tmp_path / "m"
    file.write_text(LAYOUTS[name])
    form = "csv" if any(word in name for word in ("csv", "excel", "pandas", "tibble")) else "tsv"
    form = "tsv" if name == "r-tibble-tabs" else form
    for given in ("auto", form):
        matrix = read_matrix(file, format=given, rows="cells")
        assert matrix.values.tolist() == VALUES
        assert (matrix.mutations, matrix.cells) == (GENES, CELLS)
    with pytest.raises(MatrixError, match="table with names, whose rows may be cells or mutations") as caught:
        read_matrix(file)
    assert caught.value.hint == f"give --format {form} --rows cells, or --rows mutations"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"p.A12, ""x"""\t"b\\"c"\n"c 1"\t0\t1\n', ('p.A12, "x"', 'b"c')),
        ('"a, b","c"\n"c 1",0,1\n', ("a, b", "c")),
        ('cell;p.A1,2;p.B\n"c 1";0;1\n', ("p.A1,2", "p.B")),
        ('"a b" "c"\n"c 1" 0 1\n', ("a b", "c")),
        ('x\t"a\tb"\n"c 1"\t0\t1\n', ('"a', 'b"')),  # a field is not quoted across tabs
        (",0,1\nc 1,0,1\n", ("0", "1")),  # pandas numbers columns without names
    ],
)
def test_names_with_marks(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    file = tmp_path / "m"
    file.write_text(text)
    matrix = read_matrix(file, rows="cells")
    assert (matrix.mutations, matrix.cells, matrix.values.tolist()) == (names, ("c 1",), [[0], [1]])


@pytest.mark.parametrize(
    ("text", "mutations", "cells"),
    [
        ("TP53,NRAS\n0,1\n0,3\n1,0\n", ("TP53", "NRAS"), None),
        ("c1,0,0,1\nc2,1,3,0\n", ("1", "2", "3"), ("c1", "c2")),
        ("0,0,1\n1,3,0\n1,3,0\n", ("1", "2", "3"), None),
    ],
)
def test_tables_without_some_names(
    tmp_path: Path, text: str, mutations: tuple[str, ...], cells: tuple[str, ...] | None
) -> None:
    """Fields that repeat and are all values are no names; other names are numbered."""
    file = tmp_path / "m"
    file.write_text(text)
    matrix = read_matrix(file, format="csv", rows="cells")
    assert (matrix.mutations, matrix.cells) == (mutations, cells)
    assert matrix.values.size == sum(line.count(field) for line in text.split() for field in "013") - (
        text.count("TP53") + text.count("c1")
    )


@pytest.mark.parametrize(
    ("form", "text", "line", "words"),
    [
        ("tsv", "a\tb\nc\t0\t1\nd\t0\n", 3, "the row has 2 fields, but the first 3"),
        ("tsv", "a\tb\tc\td\nc\t0\t1\n", 2, "the row has 3 fields, but the header 4"),
        ("csv", "a;b\nc;0;x\n", 2, "'x' (value 2 of the row)"),
        ("csv", 'a,b\n"c,0,1\n', None, "no table with commas"),
        ("csv", 'a;b\n"c;0;1\n', None, "no table with"),
        ("csv", "x,a\n", 1, "no rows"),
        ("csv", ",,\n,,\n", 1, "no rows"),
        ("tsv", " \n\t\n", None, "empty"),
        ("csv", "a,a\nc,0,1\n", None, "twice"),
        ("csv", "x,a\n\nc,1\n", 2, "blank line"),
        ("csv", "x,a\nc,1.5\n", 2, "'1.5'"),
        ("sifit", "0 1 0\n1 0\n", 2, "1 values"),
        ("sifit", "0 1 0\n0 0 1\n", None, "twice"),
        ("sifit", "0 1 4\n", 1, "'4'"),
        ("sifit", "0\n1\n", None, "no values"),
        ("sphyr", "2\n", 2, "not a number of SNVs"),
        ("sphyr", "2 #cells\nthree\n0 1\n", 2, "or with n and m"),
        ("sphyr", "3\n2\n0 1 0\n1 1 0\n", None, "rows are cells"),
        ("sphyr", "1\n2\n0 2\n", 3, "'2'"),
    ],
)
def test_malformed_tables(tmp_path: Path, form: str, text: str, line: int | None, words: str) -> None:
    file = tmp_path / "m"
    file.write_text(text)
    with pytest.raises(MatrixError) as caught:
        read_matrix(file, format=form, rows="cells" if form in ("tsv", "csv") else None)
    assert words in str(caught.value)
    assert caught.value.line == line


def test_numbers_in_front_and_plain_sizes_are_detected(tmp_path: Path) -> None:
    values = np.array([[0, 1, 3], [1, 0, 1], [0, 0, 2], [1, 1, 1], [0, 1, 0]], np.uint8)
    sifit, sphyr = tmp_path / "sifit", tmp_path / "sphyr"
    sifit.write_text("".join(f"{at} {' '.join(map(str, row))} \n" for at, row in enumerate(values)))
    matrix = read_matrix(sifit)
    np.testing.assert_array_equal(matrix.values, values)
    assert matrix.mutations == ("0", "1", "2", "3", "4")
    with pytest.raises(MatrixError, match="2 is homozygous in this format"):
        read_matrix(sifit, two="missing")
    few = tmp_path / "few"
    few.write_text("1 0 1\n2 0 1\n")  # as likely a matrix of three cells
    assert read_matrix(few).values.shape == (2, 3)
    assert read_matrix(few, format="sifit").values.shape == (2, 2)
    rows = np.where(values.T == 3, -1, values.T.astype(int)) % 2
    sphyr.write_text("3\n5\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
    np.testing.assert_array_equal(read_matrix(sphyr).values, rows.T)


@pytest.fixture(scope="module")
def large() -> NDArray[np.uint8]:
    """Return values of 2000 mutations in 100 cells."""
    return np.random.default_rng(1).choice(np.array([0, 1, 3], np.uint8), (2000, 100))


@pytest.mark.parametrize("layout", ["r-tabs", "r-blanks", "r-csv2", "pandas", "sifit", "sphyr", "scite"])
def test_large_tables(tmp_path: Path, large: NDArray[np.uint8], layout: str) -> None:
    """2000 x 100, detected, read within seconds, and converted with names."""
    text = np.where(large == 3, "NA", large.astype(str))
    genes, cells = (
        [f"{letter}{at}" for at in range(size)] for letter, size in zip("gc", large.shape, strict=True)
    )
    file, options = tmp_path / "m", ["--rows", "mutations"]
    if layout in ("sifit", "scite"):
        rows = np.column_stack((range(2000), large)) if layout == "sifit" else text
        lines, options = [" ".join(map(str, row)) for row in rows.tolist()], []
    elif layout == "sphyr":
        rows = np.where(large.T == 3, -1, large.T.astype(int)).tolist()
        lines, options = ["100", "2000", *(" ".join(map(str, row)) for row in rows)], []
    else:
        separator, quote = {
            "r-tabs": ("\t", ""),
            "r-blanks": (" ", '"'),
            "r-csv2": (";", '"'),
            "pandas": (",", ""),
        }[layout]
        corner = [] if layout in ("r-tabs", "r-blanks") else [""]
        lines = [separator.join([*corner, *(f"{quote}{cell}{quote}" for cell in cells)])]
        lines += [
            separator.join([f"{quote}{gene}{quote}", *row]) for gene, row in zip(genes, text, strict=True)
        ]
    file.write_text("\n".join(lines) + "\n")
    start = time.process_time()
    done = CliRunner().invoke(command, [str(file), *options, "--to", "sc", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert time.process_time() - start < 5
    again = read_matrix(tmp_path / "out" / "matrix.SC")
    np.testing.assert_array_equal(again.values, large)
    if "--rows" in options:
        assert (list(again.mutations), list(again.cells or ())) == (genes, cells)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "options", "counts"),
    [
        ("reality/formats/CRC1.SiFit.input", {}, (16, 178, 191)),
        ("reality/formats/sifit_20cells.txt", {}, (446, 20, 0)),
        ("reality/formats/condor_PDAC_sphyr_input.txt", {}, (7, 2153, 614)),
        ("formats/real/CRC1.SCITE.input", {}, (16, 178, 191)),
        ("field/r-write-table/matrix.tsv", {"rows": "cells"}, (3, 3, 1)),
    ],
)
def test_published_files(
    shared_dir: Path, name: str, options: dict[str, Any], counts: tuple[int, int, int]
) -> None:
    matrix = read_matrix(shared_dir / name, **options)
    assert (*matrix.values.shape, int((matrix.values == 3).sum())) == counts
