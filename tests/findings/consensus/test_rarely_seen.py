"""Mutations that fewer cells show than those of their clone should."""

from __future__ import annotations

import numpy as np
import pytest

import syclade
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.evidence import count_pairs
from syclade.host.findings.consensus.rarely_seen import rarely_seen_in

CELLS = 40
RATES = Rates(0.01, 0.2)


def values(seen: int, missing: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return A and B in 34 of 40 cells, and C in a number of others."""
    found = np.zeros((3, CELLS), dtype=np.uint8)
    found[:2, :34], found[2, :seen] = 1, 1
    found[2, CELLS - missing :] = 3
    return found


def rows(
    tree: CloneTree,
    clones: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    states: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    rates: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None = None,
) -> list[int]:
    """Return the rows that are rarely seen in some values."""
    counts = count_pairs(matrix_from_array(states, ["A", "B", "C"]))
    return rarely_seen_in(tree, clones, states != 3, counts, RATES, rates)


def of_cells(*shares: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the same numbers of each clone for each cell."""
    return np.repeat(np.array(shares)[:, None], CELLS, axis=1)


@pytest.mark.parametrize(
    ("seen", "missing", "missed", "found"),
    [
        (9, 0, 0.2, [2]),
        (30, 0, 0.2, []),
        (9, 0, 0.8, []),  # its own rate explains it
        (9, 28, 0.2, []),  # it has a value in few cells
    ],
)
def test_a_mutation_of_the_clone_of_all_cells(
    seen: int, missing: int, missed: float, found: list[int]
) -> None:
    tree = make_clone_tree([1, 1, 1], [0, 0])
    states, all_cells, own = values(seen, missing), of_cells(0.0, 1.0), np.array([0.2, 0.2, missed])
    assert rows(tree, all_cells, states, own) == found
    if missed == RATES.fn_rate:
        assert rows(tree, all_cells, states) == found


def test_cells_above_the_clone_do_not_count() -> None:
    tree = make_clone_tree([1, 1, 2], [0, 0, 1])
    assert rows(tree, of_cells(0.0, 0.725, 0.275), values(9)) == []
    found = rows(tree, of_cells(0.0, 0.025, 0.975), values(9))
    assert found == [2], "the control: all have it"


def test_only_cells_with_a_value_count() -> None:
    """C was measured in the last 20 cells alone, of which few are of its clone."""
    tree, states = make_clone_tree([1, 1, 2], [0, 0, 1]), values(0)
    states[2, :20], states[2, 20:23] = 3, 1
    clones = np.zeros((3, CELLS))
    clones[2, :23], clones[1, 23:] = 1.0, 1.0
    assert rows(tree, clones, states) == []
    states[2, :20] = 0
    assert rows(tree, clones, states) == [2], "the control: measured in all cells"


def test_the_message_names_the_mutation(monkeypatch: pytest.MonkeyPatch) -> None:
    from syclade.host.findings.consensus import consensus

    monkeypatch.setattr(consensus, "rarely_seen_in", lambda *_: [2])
    found = syclade.infer(
        matrix_from_array(values(9), ["A", "B", "C"]), fp_rate=0.01, fn_rate=0.2, device="native", seed=1
    )
    (message,) = (line for line in found.warnings if "seen in fewer cells" in line)
    assert "1 mutation is seen in fewer cells" in message
    assert "C 22.5% (clone" in message
