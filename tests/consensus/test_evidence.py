"""Claims on pairs of mutations that the cells contradict."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.consensus.evidence import contradictions_in, count_pairs
from syclade.host.consensus.relations import Relations
from syclade.host.input.matrix import Matrix, matrix_from_array
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate

RATES = Rates(0.01, 0.1)
NAMES = ("A", "B")


def matrix_of(both: int, first_only: int, second_only: int, neither: int) -> Matrix:
    columns = [(1, 1)] * both + [(1, 0)] * first_only + [(0, 1)] * second_only + [(0, 0)] * neither
    return matrix_from_array(np.array([*columns, (3, 1), (1, 3)], dtype=np.uint8).T, NAMES)


def relations_of(before: float, after: float) -> Relations:
    above = np.zeros((2, 2), dtype=np.int64)
    above[0, 1], above[1, 0] = round(1000 * before), round(1000 * after)
    return Relations(1000, above)


def test_counts_are_those_of_the_cells() -> None:
    matrix = simulate(40, 6, 0.05, 0.3, 0.2, 3).matrix
    counts = count_pairs(matrix)
    for one, two in np.ndindex(6, 6):
        pairs = list(zip(matrix.values[one].tolist(), matrix.values[two].tolist(), strict=True))
        assert counts.both[one, two] == pairs.count((1, 1))
        assert counts.only[one, two] == pairs.count((1, 0))
        assert counts.neither[one, two] == pairs.count((0, 0))


@pytest.mark.parametrize(
    ("cells", "claim", "words"),
    [
        ((0, 60, 10, 20), (1.0, 0.0), "A before B (of 10 cells with B, 0 have A)"),
        ((60, 0, 60, 20), (0.0, 0.0), "A apart from B (60 cells have both)"),
        ((0, 60, 10, 20), (0.9, 0.0), None),  # no claim
        ((0, 60, 10, 20), (0.0, 0.0), None),  # apart, as the cells say
        ((40, 60, 12, 20), (1.0, 0.0), None),  # most cells support it
        ((1, 60, 2, 20), (1.0, 0.0), None),  # may be chance
        ((40, 0, 3, 2000), (0.0, 1.0), None),  # by errors: B before A, and all cells with A have B
    ],
)
def test_claims_are_contradicted_by_most_of_their_cells(
    cells: tuple[int, int, int, int], claim: tuple[float, float], words: str | None
) -> None:
    matrix = matrix_of(*cells)
    found = contradictions_in(relations_of(*claim), count_pairs(matrix), RATES)
    assert [one.words(NAMES) for one in found] == ([] if words is None else [words])


def test_true_relations_are_not_contradicted() -> None:
    made = simulate(300, 12, 0.01, 0.1, 0.2, 5)
    above: NDArray[np.int64] = np.zeros((12, 12), dtype=np.int64)
    for mutation in range(12):
        node = int(made.parents[mutation])
        while node != 12:
            above[node, mutation] = 100
            node = int(made.parents[node])
    counts = count_pairs(made.matrix)
    assert contradictions_in(Relations(100, above), counts, RATES) == []
    assert contradictions_in(Relations(100, above.T.copy()), counts, RATES) != []
