"""Runs of a package without metadata."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import pytest

import syclade
from syclade.host.ground import packages


@pytest.fixture
def no_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the metadata of all packages, as if the sources were only on the path."""

    def absent(name: str) -> NoReturn:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "_folders", lambda _places: {})
    monkeypatch.setattr(metadata, "version", absent)
    monkeypatch.delitem(vars(syclade), "__version__", raising=False)


@pytest.mark.usefixtures("no_metadata")
def test_the_result_is_written(tmp_path: Path) -> None:
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "numpy", "chains": 2, "steps": 20}
    try:
        syclade.infer([[1, 0, 1], [0, 1, 1]], **options).write(tmp_path)
        syclade.infer_leaf([[1, 0, 1], [0, 1, 1]], **options).write(tmp_path / "leaf")
    finally:
        vars(syclade).pop("__version__", None)
    for folder in (tmp_path, tmp_path / "leaf"):
        assert json.loads((folder / "run.json").read_text())["version"] == "unknown"
    assert set(json.loads((tmp_path / "run.json").read_text())["versions"]) == {"python"}
