"""Plans: gamma, move probabilities, and the tables derived from them."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.plan import log_tables, make_plan
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle import acceptance
from syclade.quality.oracle.proposal import move_cuts
from tests.support.backends import Case

PROBLEM = Case(9, 4).problem()


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1.0, 7.0, 1e6])
def test_logarithms_are_the_oracles(gamma: float) -> None:
    tables = log_tables(9, PROBLEM.unit, gamma)
    expected = acceptance.tables(PROBLEM.scale_bits, gamma, 9)
    assert tuple(tables.log_table.tolist()) == expected.mantissa
    assert tuple(tables.log_sizes.tolist()) == expected.size
    assert make_plan(PROBLEM, gamma=gamma).gamma == gamma


@pytest.mark.parametrize(
    "weights", [(0.55, 0.4, 0.05), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3, 5), (1e-9, 1, 1e-9)]
)
def test_move_probabilities_are_the_oracles(weights: tuple[float, float, float]) -> None:
    plan = make_plan(PROBLEM, move_probabilities=weights)
    assert plan.move_below == (*move_cuts(*weights), 65536)


@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf"), 1e-7, 1e7])
def test_gamma_refused(gamma: float) -> None:
    with pytest.raises(OptionError, match="--gamma"):
        make_plan(PROBLEM, gamma=gamma)


@pytest.mark.parametrize(
    "weights",
    [(0, 0, 0), (1, -1, 1), (1, float("nan"), 1), (1, 1), (float("inf"), 1, 1), (1e308, 1e308, 1e308)],
)
def test_move_probabilities_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(OptionError, match="move probabilities"):
        make_plan(PROBLEM, move_probabilities=weights)


def test_settings_are_those_of_the_parts() -> None:
    assert make_plan(PROBLEM).settings == {}
    assert np.all(np.diff(make_plan(PROBLEM).move_below) >= 0)
