"""The table of cells where no trees were sampled: cells on the clones of the most likely tree."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import syclade
from syclade.host.answer.figures.source import files_in, files_in_memory
from syclade.host.data.model.simulate import simulate

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result


def table(result: Result, folder: Path) -> list[dict[str, str]]:
    """Return the rows of cells.tsv."""
    result.write(folder)
    with (folder / "cells.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_cells_without_samples(tmp_path: Path) -> None:
    """Cells are at the nodes of attachments.tsv; a cell without observations is unplaced."""
    values = simulate(40, 8, 0.01, 0.1, 0.0, seed=3).matrix.values.copy()
    values[:, 5] = 3
    result = syclade.infer(values, fp_rate=0.01, fn_rate=0.1, support="none", device="native")
    rows = table(result, tmp_path / "none")
    assert [row["cell"] for row in rows] == list(result.cells)
    assert (rows[5]["clone"], rows[5]["node"]) == ("unplaced", "")
    labels = ["root" if node == 8 else result.mutations[node] for node in result.attachment.tolist()]
    placed = [cell for cell in range(40) if cell != 5]
    assert [rows[cell]["node"] for cell in placed] == [labels[cell] for cell in placed]
    assert all(0.0 < float(rows[cell]["probability"]) <= 1.0 for cell in placed)
    assert {rows[cell]["fits"] for cell in placed} == {"yes"}


def test_one_numbering_of_clones(tmp_path: Path) -> None:
    """Figures, cells.tsv, clone_genotypes.tsv and obs have the same clones, without silent mutations."""
    values = simulate(16, 12, 0.01, 0.1, 0.0, seed=6).matrix.values.copy()
    values[values[:, 7] != 3, 7] = 0
    values[4] = 0  # no cell shows this mutation
    values[:, 9] = 3
    result = syclade.infer(values, fp_rate=0.01, fn_rate=0.1, support="none", device="native", genotypes=True)
    rows, drawn = table(result, tmp_path / "one"), files_in_memory(result).published
    assert result.mutations[4] in drawn.unplaced
    numbers = [clone.number for clone in drawn.clones]
    assert len(numbers) < 13 - len(drawn.unplaced), "some mutations are one clone"
    shown = [str(numbers[at]) if at >= 0 else "unplaced" for at in drawn.cells.tolist()]
    assert [row["clone"] for row in rows] == shown
    assert rows[9]["clone"] == "unplaced"
    with (tmp_path / "one" / "clone_genotypes.tsv").open() as file:
        has = {row["clone"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert list(has) == list(map(str, numbers))
    for at, clone in enumerate(drawn.clones):
        own = {name for name in has["0"] if name != "clone" and has[str(clone.number)][name] == "1"}
        above = {
            name
            for up, within in enumerate(drawn.within[:, at])
            if within
            for name in drawn.clones[up].mutations
        }
        assert own == above
    again = files_in(tmp_path / "one").published
    assert again.clones == drawn.clones
    assert again.cells.tolist() == drawn.cells.tolist()
    obs = pytest.importorskip("anndata") and result.to_anndata().obs
    assert ["unplaced" if text != text else text for text in obs["clone"]] == shown


def test_table_is_that_of_the_consensus_with_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = simulate(30, 5, 0.01, 0.1, 0.0, seed=4).matrix.values
    given = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native"}
    assert "node" not in table(syclade.infer(values, **given), tmp_path / "sampled")[0]  # type: ignore[arg-type]
    leaf = syclade.infer(values, tree="leaf", method="chain", steps=100, chains=2, **given)  # type: ignore[arg-type]
    leaf.write(tmp_path / "leaf")
    assert not (tmp_path / "leaf" / "cells.tsv").exists()
