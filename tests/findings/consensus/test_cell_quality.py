"""Cells that differ in dropout are found, and equal ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rate_fit import fit_rates
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.consensus.claims import quality_warnings, spread_of_dropout
from syclade.host.findings.consensus.clone_tree import clone_tree_of


@pytest.mark.parametrize(("halves", "differs"), [((0.05, 0.6), True), ((0.3, 0.3), False)])
def test_cells_of_two_qualities(halves: tuple[float, float], differs: bool) -> None:
    found = 0
    for seed in range(2):
        made = [simulate(400, 20, 0.01, rate, 0.05, seed) for rate in halves]
        assert (made[0].parents == made[1].parents).all()
        matrix = matrix_from_array(
            np.hstack([one.matrix.values[:, half::2] for half, one in enumerate(made)])
        )
        rates = fit_rates(matrix, made[0].parents, Rates(0.01, 0.2))
        spread = spread_of_dropout(clone_tree_of(made[0].parents), matrix, rates)
        found += len(quality_warnings(spread))
    assert found == (2 if differs else 0)


def test_few_cells_are_not_compared() -> None:
    made = simulate(40, 8, 0.01, 0.2, 0.05, 1)
    assert spread_of_dropout(clone_tree_of(made.parents), made.matrix, Rates(0.01, 0.2)) is None
    assert not quality_warnings(None)


@pytest.mark.parametrize(("missed", "compared"), [(0, False), (40, True)])
def test_cells_that_miss_nothing_do_not_differ(missed: int, compared: bool) -> None:
    """Rounding errors alone would differ between the cells and the simulated ones."""
    made = simulate(400, 4, 0.01, 0.05, 0.05, 3)
    values = made.truth.copy()
    rows, cells = np.nonzero(values)
    values[rows[:missed], cells[:missed]] = 0
    spread = spread_of_dropout(clone_tree_of(made.parents), matrix_from_array(values), Rates(0.01, 0.05))
    assert (spread is not None) is compared
