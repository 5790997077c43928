"""Cells of specimens on clones: probabilities by enumeration; clones that a specimen does not tell apart."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus import of_specimens
from syclade.host.findings.consensus.cells import CloneCells, cells_on, mutation_gains
from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.finding import PublishedTree
from syclade.host.findings.consensus.of_specimens import draw_on_clones
from syclade.host.findings.joint_shares import joined_groups
from tests.support.dirichlet import log_probabilities

RATES = Rates(0.1, 0.3)
TREE = make_clone_tree((1, 2, 2), (0, 0, 1))
"""The mutation A, and B and C in a clone below it."""

SPECIMEN_OF = np.array([0, 0, 0, 0, 1, 1, 1, -1, -1])


def values() -> NDArray[np.uint8]:
    """Return observations, of which those of B and C in the second specimen are missing."""
    found = np.random.default_rng(5).choice([0, 1, 1], (3, len(SPECIMEN_OF))).astype(np.uint8)
    found[1:, SPECIMEN_OF == 1] = 3
    return found


def placed(doublets: float | None) -> CloneCells:
    """Return these cells on the clones."""
    matrix = matrix_from_array(values(), ("A", "B", "C"))
    gains = mutation_gains(matrix, RATES, None)
    none = np.zeros((0, 4), np.int32)
    published = PublishedTree(TREE, ("A", "B", "C"), gains, none, None, doublets)
    specimens = draw_on_clones(published, SPECIMEN_OF, 2, seed=1)
    return cells_on(TREE, matrix, RATES, doublets=doublets, specimens=specimens)


def exact(tree: CloneTree, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities of single cells and of parts of doublets, by all assignments of all cells."""
    has = tree.within[tree.clone_of].T
    gains = mutation_gains(matrix_from_array(values()), RATES, None)
    kinds: list[tuple[int, ...]] = [(clone,) for clone in range(3)]
    if rate:
        kinds += [(one, two) for one in range(3) for two in range(3)]
    single, parts = np.zeros((2, 3, len(SPECIMEN_OF)))
    for specimen in (0, 1, -1):
        own = np.flatnonzero(specimen == SPECIMEN_OF)
        every = np.array(list(itertools.product(range(len(kinds)), repeat=len(own))))
        member = np.array([np.bincount(kind, minlength=3) for kind in kinds])
        logs = log_probabilities(member[every].sum(axis=1)[:, [1, 2, 0]])
        for place, cell in enumerate(own.tolist()):
            of_kinds = [
                has[list(kind)].any(axis=0) @ gains[:, cell] + np.log(rate if len(kind) > 1 else 1.0 - rate)
                for kind in kinds
            ]
            logs = logs + np.array(of_kinds)[every[:, place]]
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        for place, cell in enumerate(own.tolist()):
            of = np.bincount(every[:, place], weights, len(kinds))
            single[:, cell] = of[:3]
            parts[:, cell] = of[3:] @ member[3:]
    return single, parts


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_probabilities_are_those_of_all_assignments(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Specimens have shares of their own, with the prior of the clones by sample; so have other cells."""
    monkeypatch.setattr(of_specimens, "_DRAWS", 3000)
    cells, (single, parts) = placed(rate or None), exact(TREE, rate)
    found = cells.mixture
    np.testing.assert_allclose(found.probability, single, atol=0.04)
    assert np.abs(found.probability - cells.likelihood).max() > 0.1  # control
    if rate:
        assert found.parts is not None
        np.testing.assert_allclose(found.parts, parts, atol=0.04)
    np.testing.assert_allclose(found.prevalence.sum(), 1.0)
    assert (found.low <= found.prevalence).all()
    assert (found.prevalence <= found.high).all()


def test_clones_that_a_specimen_does_not_tell() -> None:
    cells = placed(None)
    (joint,) = cells.joint
    assert joint.clones == (1, 2)
    assert joint.name == "1+2"
    assert joint.share == pytest.approx(cells.mixture.prevalence[1:].sum())
    assert joint.low <= joint.share <= joint.high
    groups = cells.joint_of_cells()
    assert [one is not None for one in groups[4:7]] == (cells.best[4:7] > 0).tolist()
    assert groups[:4] == [None] * 4
    assert groups[7:] == [None, None]
    (cell, *_) = np.flatnonzero(cells.best[4:7] > 0) + 4
    assert groups[cell] == ("1+2", pytest.approx(cells.probability[1:, cell].sum()))


def test_groups_with_a_number_in_common_are_one() -> None:
    generator = np.random.default_rng(2)
    for _ in range(50):
        groups = [tuple(generator.choice(9, 2, replace=False).tolist()) for _ in range(4)]
        met = np.eye(9, dtype=int)
        for one, two in groups:
            met[one, two] = met[two, one] = 1
        reached = np.linalg.matrix_power(met, 9) > 0
        slow = {tuple(np.flatnonzero(row).tolist()) for row in reached if row.sum() > 1}
        assert joined_groups(groups) == sorted(slow)


@pytest.fixture(scope="module")
def joined() -> syclade.Result:
    """Clone A, and B below it, in two time points; the panel of the second lacks B."""
    generator, columns = np.random.default_rng(3), []
    for counts in ((20, 30, 100), (110, 10, 30)):
        has = np.repeat([[0, 0, 0], [1, 1, 0], [1, 1, 1]], counts, axis=0)
        columns.append(np.where(generator.random(has.shape) < np.where(has, 0.1, 0.01), 1 - has, has))
    columns[1][:, 2] = 3
    matrix = matrix_from_array(np.concatenate(columns).T.astype(np.uint8), ("A1", "A2", "B"))
    days = ["day 1"] * 150 + ["day 2"] * 150
    labels = {"cell": [f"s{cell}" for cell in range(300)], "sample": days, "time": days}
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native"}
    return syclade.infer(matrix, metadata=labels, time_column="time", **options)


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_tables_of_all_cells_and_of_specimens_agree(joined: syclade.Result, tmp_path: Path) -> None:
    joined.write(tmp_path, report=True)
    by_sample, consensus = joined.clones_by_sample, joined.consensus
    assert by_sample is not None
    assert consensus is not None
    clones = rows(tmp_path / "clones.tsv")
    cells = by_sample.cells.sum(axis=0)
    np.testing.assert_allclose([float(row["cells"]) for row in clones], cells, atol=12.0)
    mixed = (by_sample.low * 150 + by_sample.high * 150).sum(axis=0) / 600  # middles of the intervals
    middles = [(float(row["low"]) + float(row["high"])) / 2 for row in clones]
    np.testing.assert_allclose(middles, mixed, atol=0.08)
    assert [row["identifiable"] for row in clones] == ["yes", *["no"] * (len(clones) - 1)]
    group = "+".join(map(str, range(1, len(clones))))
    assert {row["joint"] for row in clones[1:]} == {group}
    assert clones[0]["joint"] == clones[0]["joint_prevalence"] == ""
    assert float(clones[1]["joint_high"]) - float(clones[1]["joint_low"]) < 0.12, "their sum is known"
    assert float(clones[1]["high"]) - float(clones[1]["low"]) > 0.12, "how it is divided is not"
    of_cells = rows(tmp_path / "cells.tsv")
    assert {row["identifiable"] for row in of_cells[:150]} == {"yes"}
    assert {row["joint"] for row in of_cells[150:]} == {"", group}
    assert all(float(row["joint_probability"]) > 0.5 for row in of_cells if row["joint"])
    page = (tmp_path / "report.html").read_text()
    assert f"not identifiable: clones {group} together " in page
    assert "follows from the prior" in page
    summary = joined.summary()["consensus"]["joint"]
    assert summary[0]["clones"] == list(range(1, len(clones)))


def test_a_group_of_clones_that_changes_is_reported(joined: syclade.Result, tmp_path: Path) -> None:
    """Of 150 cells each, 130 and 40 have A: whichever have B, that is sure."""
    joined.write(tmp_path, report=True)
    found = joined.clones_by_sample
    assert found is not None
    clones = len(found.mutations)
    group = "+".join(map(str, range(1, clones)))
    *_, line = [row for row in rows(tmp_path / "clone_changes.tsv") if row["clone"] == group]
    assert (line["identifiable"], line["grew"]) == ("yes", "0")
    assert float(line["low"]) < -0.6 < float(line["high"]) < -0.45
    before, after = found.share[:, 1:].sum(axis=1)
    assert before > 0.8
    assert after < 0.35
    words = f"group of clones that is known only together changes: clones {group} {before:.1%} to {after:.1%}"
    assert found.words[1].endswith(words)
    page = (tmp_path / "report.html").read_text()
    assert words in page
    assert f">{group}</" in page
    assert "not identifiable (" in page
    (change,) = joined.summary()["clones_by_sample"]["changes"]
    assert change["groups"][0]["clones"] == list(range(1, clones))
    assert change["groups"][0]["grew"] == 0.0


def test_cells_on_the_most_likely_tree_have_shares_of_their_specimens(tmp_path: Path) -> None:
    """Without samples of trees, too: the second specimen does not tell B from A."""
    columns = [[1, 0]] * 30 + [[1, 1]] * 10 + [[1, 3]] * 20 + [[0, 3]] * 20
    matrix = matrix_from_array(np.array(columns, dtype=np.uint8).T, ("A", "B"))
    labels = {f"s{cell}": "P1" if cell < 40 else "P2" for cell in range(80)}
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native", "support": "none"}
    syclade.infer(matrix, metadata=labels, **options).write(tmp_path)
    table = rows(tmp_path / "cells.tsv")
    assert {row["identifiable"] for row in table[:40]} == {"yes"}
    assert {(row["identifiable"], row["joint"]) for row in table[40:60]} == {("no", "1+2")}
    assert all(float(row["joint_probability"]) > 0.9 for row in table[40:60])
    assert {row["clone"] for row in table[60:]} == {"0"}
    assert {row["clone"] for row in table[:30]} == {"1"}
    assert {row["clone"] for row in table[30:40]} == {"2"}
    syclade.infer(matrix, **options).write(tmp_path / "plain")
    assert "joint" not in rows(tmp_path / "plain" / "cells.tsv")[0]
