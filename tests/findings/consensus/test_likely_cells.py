"""The table of cells where no trees were sampled: cells on the nodes of the most likely tree."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import syclade
from syclade.host.data.model.simulate import simulate

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result


def table(result: Result, folder: Path) -> list[dict[str, str]]:
    """Return the rows of cells.tsv."""
    result.write(folder)
    with (folder / "cells.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_cells_without_samples(tmp_path: Path) -> None:
    """Cells are mostly at the nodes of attachments.tsv; a cell without observations is unplaced."""
    values = simulate(40, 8, 0.01, 0.1, 0.0, seed=3).matrix.values.copy()
    values[:, 5] = 3
    result = syclade.infer(values, fp_rate=0.01, fn_rate=0.1, support="none", device="native")
    rows = table(result, tmp_path / "none")
    assert [row["cell"] for row in rows] == list(result.cells)
    assert (rows[5]["clone"], rows[5]["node"]) == ("unplaced", "")
    labels = ["root" if node == 8 else result.mutations[node] for node in result.attachment.tolist()]
    placed = [cell for cell in range(40) if cell != 5]
    same = [rows[cell]["node"] == labels[cell] for cell in placed]
    assert sum(same) >= 36
    assert all(0.0 < float(rows[cell]["probability"]) <= 1.0 for cell in placed)
    assert {rows[cell]["fits"] for cell in placed} == {"yes"}


def test_table_is_that_of_the_consensus_with_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = simulate(30, 5, 0.01, 0.1, 0.0, seed=4).matrix.values
    given = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native"}
    assert "node" not in table(syclade.infer(values, **given), tmp_path / "sampled")[0]  # type: ignore[arg-type]
    leaf = syclade.infer(values, tree="leaf", method="chain", steps=100, chains=2, **given)  # type: ignore[arg-type]
    leaf.write(tmp_path / "leaf")
    assert not (tmp_path / "leaf" / "cells.tsv").exists()
