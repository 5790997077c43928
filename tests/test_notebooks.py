"""The notebooks of the documentation run unchanged; tutorials print the outputs that are stored in them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.notebooks import TUTORIALS, run_notebook, without_times
from tests.support.searches import shorten_support

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_of(notebook: Path) -> list[str]:
    written: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    assert written["nbformat"] == 4
    cells = [cell for cell in written["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    return ["".join(cell["source"]) for cell in cells]


def test_there_is_one() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch)
    for file in FOLDER.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(code_of(notebook)):
        exec(compile(source, f"{notebook.name}, cell {number}", "exec"), names)
    assert names["result"].log_likelihood == pytest.approx(-337.705396, abs=1e-6)
    assert (tmp_path / "crc1" / "report.html").stat().st_size > 10000


@pytest.mark.parametrize("notebook", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_print_what_is_stored(notebook: Path, tmp_path: Path) -> None:
    cells = list(run_notebook(notebook, tmp_path))
    assert 10 <= len(cells) <= 25
    for cell, made in cells:
        if cell["cell_type"] == "code":
            assert without_times(made) == without_times(cell["outputs"]), "".join(cell["source"])
