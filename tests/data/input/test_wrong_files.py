"""Files that are no matrix of calls, and paths that are none: the message says what they are."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import syclade
from syclade.host.answer.batch.table import read_table
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import Options
from tests.support.commands import printed_by

MATRIX = "0 1 1\n1 0 1\n"


@pytest.mark.parametrize("layers", [(), ("counts",)])
def test_expression_has_no_calls(tmp_path: Path, layers: tuple[str, ...]) -> None:
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    numbers = np.log1p(np.arange(12.0)).reshape(3, 4)
    path = tmp_path / "expression.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = numbers
        for axis, names in (("obs", ["c1", "c2", "c3"]), ("var", list("ABCD"))):
            file.create_group(axis).attrs["_index"] = "_index"
            file[axis]["_index"] = names
        for name in layers:
            file[f"layers/{name}"] = numbers
    data = anndata.AnnData(numbers, layers=dict.fromkeys(layers, numbers))
    for source in (path, data):
        with pytest.raises(MatrixError, match="not 0, 1, 2 or 3") as refused:
            syclade.read_matrix(source)
        assert refused.value.hint is not None
        assert "they say nothing of mutations: call variants in the reads of the cells" in refused.value.hint
        assert ("it has layers (counts): for calls, --layer NAME" in refused.value.hint) is bool(layers)


def test_annotated_data_without_cells_are_empty(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "empty.h5ad"
    anndata.AnnData(np.zeros((0, 3), np.float32)).write_h5ad(path)
    with pytest.raises(MatrixError, match="X is empty: 0 × 3") as refused:
        syclade.read_matrix(path)
    assert refused.value.hint == "are all cells or all mutations left out of the file? Write it with some"


def test_a_spreadsheet_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "matrix.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(
        MatrixError, match=r"matrix\.csv: the file is a spreadsheet \(\.xlsx, \.xls\)"
    ) as refused:
        syclade.read_matrix(path)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("save the table as text, with tabs (.tsv)")


@pytest.mark.parametrize(
    "words",
    [
        ("infer", "https://example.org/a.csv"),
        ("infer", "x", "--out", "s3://bucket/out"),
        ("batch", "https://example.org/a.csv", "--out", "out"),
    ],
)
def test_addresses_are_no_paths(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, _, said = printed_by(capsys, *words)
    address = next(word for word in words if "//" in word)
    assert status == 2
    assert f"{address} is an address" in said
    assert "download the file first" in said


def test_addresses_are_no_paths_in_python() -> None:
    with pytest.raises(MatrixError, match=r"the file is https://example\.org/a\.csv, an address"):
        syclade.read_matrix("https://example.org/a.csv")


def test_the_home_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shells leave ~ as it is in quotes and after =, so that a folder of this name would be made."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text(MATRIX)
    (tmp_path / "names.txt").write_text("A\nB\n")
    words = ("~/m.csv", "--names=~/names.txt", "--out=~/result", "--fp-rate=0.1", "--fn-rate=0.1")
    assert printed_by(capsys, "infer", *words, "--device=native", "--support=none")[0] == 0
    assert "A" in (tmp_path / "result" / "tree.newick").read_text()
    assert not (tmp_path / "~").exists()
    (tmp_path / "in").mkdir()
    table = tmp_path / "in" / "t.tsv"
    table.write_text("matrix\tnames\n~/m.csv\t~/names.txt\n")
    (task,) = read_table(table, Options())
    assert (task.matrix, task.options.names) == (str(tmp_path / "m.csv"), str(tmp_path / "names.txt"))
    with pytest.raises(MatrixError, match="~ stands for no folder here"):
        syclade.read_matrix("~/m.csv")
