from __future__ import annotations

import hashlib
import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import syclade
from syclade.host.data.input import matrix as matrix_module
from syclade.host.data.input.formats import plain
from syclade.host.data.input.formats.plain import values_of
from syclade.host.data.input.matrix import format_matrix, matrix_from_array, with_names
from syclade.host.data.input.names import read_names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import MatrixError
from tests.support.tree_strategies import AWKWARD, observations


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(data: bytes | str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


@given(st.data(), st.sampled_from(" \t"), st.integers(1, 4), st.integers(1, 4))
def test_a_spoilt_matrix_is_read_or_refused(data: st.DataObject, blank: str, rows: int, columns: int) -> None:
    """Nearly regular texts beside the definition: values between blanks, as many in each line."""
    lines = [blank.join(data.draw(st.sampled_from("0123")) for _ in range(columns)) for _ in range(rows)]
    text = list("\n".join(lines))
    for _ in range(data.draw(st.integers(0, 2))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from("0123 \t\n\v4x"))
    fields = [
        line.replace("\t", " ").replace("\v", " ").split(" ") for line in "".join(text).rstrip().split("\n")
    ]
    expected = [[field for field in line if field] for line in fields]
    valid = all(set(line) <= set("0123") and line for line in expected)
    try:
        found = values_of("".join(text).encode(), "file").tolist()
    except MatrixError:
        assert not valid or len({len(line) for line in expected}) > 1
    else:
        assert valid
        assert found == [list(map(int, line)) for line in expected]


def test_large_matrices_are_read_and_hashed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).integers(0, 4, (11, 5), dtype=np.uint8)
    text = format_matrix(values)
    monkeypatch.setattr(plain, "_BLOCK_BYTES", 35)
    monkeypatch.setattr(matrix_module, "_HASHED", 12)
    for data in (text, text.rstrip(), text.replace(" ", "\t")):
        assert np.array_equal(values_of(data.encode(), "file"), values)
    with pytest.raises(MatrixError, match=r"'7' \(row 11, cell 5\)"):
        values_of(f"{text[:-2]}7".encode(), "file")
    assert matrix_from_array(values).sha256 == hashlib.sha256(text.encode()).hexdigest()


def refused(path: Path, **names: Any) -> MatrixError:
    with pytest.raises(MatrixError) as caught:
        read_matrix(path, **names)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "0 1 3\n1 1 0\n",
        "0 1 3\n1 1 0",
        "0 1 3\r\n1 1 0\r\n",
        "0 1 3\r1 1 0\r",
        "0 1 3\r\n1 1 0\r",
        "0\t1\t3\n1\t1\t0\n",
        "  0 1  3 \t\n\t1 1 0   \n",
        "0 1 3 \r\n1 1 0\n\n \n\t\r\n",
        "\ufeff0 1 3\n1 1 0\n",
    ],
)
def test_the_same_matrix_in_every_guise(file: Any, text: str) -> None:
    matrix = read_matrix(file(text))
    assert matrix.values.tolist() == [[0, 1, 3], [1, 1, 0]]
    assert matrix.values.dtype == np.uint8
    assert matrix.values.flags.c_contiguous
    assert not matrix.values.flags.writeable
    assert matrix.mutations == ("1", "2")
    assert (matrix.n_mutations, matrix.n_cells) == (2, 3)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", [[1]]),
        ("0 1 2 3", [[0, 1, 2, 3]]),
        ("0\n1\n3\n", [[0], [1], [3]]),
        ("3 3\n3 3\n", [[3, 3], [3, 3]]),
        ("3 0\n3 1\n", [[3, 0], [3, 1]]),
    ],
)
def test_smallest_and_all_missing(file: Any, text: str, values: list[list[int]]) -> None:
    assert read_matrix(file(text)).values.tolist() == values


@pytest.mark.parametrize("symbol", ["-1", "NA", "nan", "NULL", "None", "-", ".", "?", "n/a", "<NA>"])
def test_missing_values_of_other_programs(file: Any, symbol: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "syclade")
    path = file(f"{symbol} 0 1\n1 {symbol} {symbol} \n")
    assert read_matrix(path).values.tolist() == [[3, 0, 1], [1, 3, 3]]
    assert f"read as missing: 3 of {symbol}" in caplog.text


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("0 1\n-2 0\n", 2, 1, ["'-2'", "3 (missing)"]),
        ("0 NA\n1 NAN1\n", 2, 3, ["'NAN1'", "3 (missing)"]),
        ("0 0 1\n1 0 1\n2 0 0\n3 1 0\n4 1 5\n", 5, 1, ["'4'", "--format sifit"]),
        ("0,1,3\n", 1, 1, ["commas"]),
        ("0 1;1\n", 1, 3, ["semicolons"]),
        ("0 1.0\n", 1, 3, ["whole numbers"]),
        ("0 4\n", 1, 3, ["0 (not observed), 1 (mutation), 2 (homozygous mutation) or 3 (missing)"]),
        ("001\n", 1, 1, ["separated by blanks"]),
        ("0 1\u00a03\n", 1, 3, ["separated by blanks or tabs"]),
        ("0 1\n1\x1f3\n", 2, 1, ["separated by blanks or tabs"]),
        ("cell1 cell2\n0 1\n", 1, 1, ["no header", "--format tsv --rows cells"]),
        ("0 1\nTP53 1\n", 2, 1, ["no row names"]),
        ("0 1\n0 x\n", 2, 3, ["'x'"]),
        ("0 \u00e9 2\n", 1, 3, ["'\u00e9'"]),
        ("0 1 1\n\t0 1\n", 2, 5, ["row 2 has 2 values", "the first row has 3"]),
        ("0 1\n0  1 1\n", 2, 6, ["row 2 has 3 values", "the first row has 2"]),
        ("0 1\n\n0 1\n", 2, None, ["blank line"]),
        ("\n0 1\n", 1, None, ["blank line"]),
        ("", None, None, ["empty"]),
        (" \r\n\t\n", None, None, ["empty"]),
        ("0 1\n\0 1\n", 2, None, ["binary"]),
    ],
)
def test_refused_with_place_and_hint(
    file: Any, text: str, line: int | None, column: int | None, words: list[str]
) -> None:
    path = file(text)
    error = refused(path)
    assert (error.path, error.line, error.column) == (str(path), line, column)
    place = [part for part in (str(path), line, column) if part is not None]
    assert str(error).startswith(":".join(map(str, place)) + ": ")
    for word in words:
        assert word in str(error)
    assert error.hint


def test_the_first_error_is_told(file: Any) -> None:
    error = refused(file("0 1\n0 1 1\n0 2\n"))
    assert (error.line, error.column) == (2, 5)


def test_unreadable_files(file: Any, tmp_path: Path) -> None:
    assert "no such file" in str(refused(tmp_path / "none.csv"))
    assert "directory" in str(refused(tmp_path))
    assert "UTF-16" in str(refused(file("0 1\n".encode("utf-16"))))
    assert "cannot be read" in str(refused(Path("a\0b")))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_file_without_rights(file: Any) -> None:
    path = file("0 1\n")
    path.chmod(0)
    assert "Permission denied" in str(refused(path))


def test_large_files_are_read_fast(file: Any) -> None:
    values = np.random.default_rng(1).choice(np.array([0, 1, 3], np.uint8), (1000, 5000))
    path = file(format_matrix(values))
    start = time.process_time()
    matrix = read_matrix(path)
    assert time.process_time() - start < 1.0
    np.testing.assert_array_equal(matrix.values, values)


@given(st.data())
def test_format_and_read_again(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    values = data.draw(observations(data.draw(st.integers(1, 6))))
    blank = data.draw(st.sampled_from([" ", "\t", "  "]))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    path = tmp_path_factory.mktemp("matrix") / "data.csv"
    path.write_bytes(format_matrix(values).replace(" ", blank).replace("\n", end).encode())
    np.testing.assert_array_equal(read_matrix(path).values, values)


@given(st.lists(st.text("013 2\n\v\x1f\u00a0-,x", max_size=6), max_size=4).map("\n".join))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("matrix") / "data.csv"
    path.write_text(text, encoding="utf-8")
    try:
        values = read_matrix(path, format="scite", two="homozygous").values
    except MatrixError:
        return
    rows = [line.split() for line in text.rstrip().split("\n")]
    assert [[int(field) if field in "0123" else 3 for field in row] for row in rows] == values.tolist()


# ---- names


def test_names_of_a_file(file: Any) -> None:
    path = file("0 1\n1 1\n")
    assert read_matrix(path, file(" TP53 \r\nit's (x)\r\n\r\n", "names")).mutations == ("TP53", "it's (x)")
    assert read_matrix(path, ["a", "b"]).mutations == ("a", "b")
    assert read_names(file("a\rb c\rd", "names")) == ("a", "b c", "d")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("a\n\nb\n", 2, "a name is empty"),
        ("a\nb\na\n", 3, "'a' occurs twice, for mutations 1 and 3"),
        ("a\tchr1\nb\tchr2\n", 1, "several columns"),
        ("a\n b\tchr2\n", 2, "several columns"),
        ("0 1 3\n1 2 0\n", 1, "looks like a matrix"),
        ("a\x07\nb\n", 1, "control character"),
        (b"a\nb\xff\n", 2, "not UTF-8"),
    ],
)
def test_names_refused(file: Any, text: str | bytes, line: int | None, words: str) -> None:
    path = file(text, "names")
    with pytest.raises(MatrixError) as caught:
        read_names(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text", ["TP53 p.R175H\nKRAS p.G12D\n", "chr1,7,A\nchr2,9,T\n", "a; b\nc; d\n", "1\n0\n", "1 1\n1 x\n"]
)
def test_a_name_is_all_that_stands_in_its_line(file: Any, text: str) -> None:
    """Keep whole lines as names, even if all lines have the same number of words."""
    assert list(read_names(file(text, "names"))) == text.splitlines()


def test_number_of_names(file: Any) -> None:
    path = file("0 1 1\n1 1 0\n")
    error = refused(path, names=file("a\nb\nc\n", "names"))
    assert "3 names for a matrix of 2 mutations" in str(error)
    assert "looks transposed" in str(error)
    assert "transposed" not in str(refused(path, names=["a"]))
    with pytest.raises(MatrixError, match="not a sequence of names"):
        matrix_from_array([[0]], "a")


@pytest.mark.parametrize("name", ["", " ", "a ", "a\nb", "a\tb", "a\u2028b", "a" * 1001, 7])
def test_names_that_will_not_do(name: Any) -> None:
    with pytest.raises(MatrixError):
        matrix_from_array([[0], [1]], ["x", name])


def test_awkward_names_are_allowed() -> None:
    names = tuple(char for char in AWKWARD if char.strip())
    assert matrix_from_array(np.zeros((len(names), 1)), names).mutations == names


def test_errors_survive_pickling(file: Any) -> None:
    error = refused(file("0 4\n"))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.hint) == (str(error), error.line, error.hint)


# ---- real data


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "shape"), [("dataNavin", (40, 47)), ("dataXu", (35, 17)), ("pat_2", (16, 115))]
)
def test_real_data(shared_dir: Path, name: str, shape: tuple[int, int]) -> None:
    folder = shared_dir / "data"
    matrix = read_matrix(folder / f"{name}.csv", folder / f"{name}.geneNames")
    assert matrix.values.shape == shape
    assert matrix.mutations[0] == (folder / f"{name}.geneNames").read_text().split()[0]


@pytest.mark.shared
@pytest.mark.parametrize(("name", "count"), [("dataHou18", 49), ("dataHou78", 209)])
def test_real_data_with_homozygous_mutations(shared_dir: Path, name: str, count: int) -> None:
    assert (read_matrix(shared_dir / "data" / f"{name}.csv").values == 2).sum() == count


@pytest.mark.shared
def test_real_data_transposed(shared_dir: Path, tmp_path: Path) -> None:
    folder = shared_dir / "data"
    path = tmp_path / "transposed.csv"
    path.write_text(format_matrix(read_matrix(folder / "dataXu.csv").values.T))
    assert "looks transposed" in str(refused(path, names=folder / "dataXu.geneNames"))


def test_names_of_a_matrix_may_be_others(file: Any) -> None:
    matrix = matrix_from_array([[0, 1], [3, 0]], ["a", "b"])
    assert with_names(matrix, None) is matrix
    assert with_names(matrix, ["c", "d"]).mutations == ("c", "d")
    assert with_names(matrix, file("TP53\nKRAS\n", "names")).mutations == ("TP53", "KRAS")
    assert matrix.mutations == ("a", "b")
    with pytest.raises(MatrixError, match="3 names"):
        with_names(matrix, ["a", "b", "c"])
    with pytest.raises(MatrixError, match="occurs twice"):
        with_names(matrix, ["a", "a"])


def test_inferences_take_the_names_given() -> None:
    matrix = matrix_from_array([[0, 1], [3, 0]])
    result = syclade.infer(
        matrix, names=["x", "y"], fp_rate=0.01, fn_rate=0.2, chains=1, steps=10, device="numpy"
    )
    assert result.mutations == ("x", "y")
    with pytest.raises(MatrixError, match="no such file"):
        syclade.score(matrix, [2, 2, 2], names="nowhere/names", fp_rate=0.01, fn_rate=0.2)
