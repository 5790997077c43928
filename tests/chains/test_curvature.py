"""Slope and curvature of a tree's likelihood, beside differences of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.curvature import Curvature, Slope, log_odds
from syclade.host.data.model.dropout import problem_of_groups
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate

Numbers = NDArray[np.float64]

MUTATIONS, RATES = 4, Rates(0.01, 0.2)
TREE = np.array([4, 0, 0, 1, 4], dtype=np.int32)
STEP = 1e-5


@pytest.fixture(scope="module")
def curvature() -> Curvature:
    matrix = simulate(60, MUTATIONS, RATES.fp_rate, RATES.fn_rate, 0.1, 3).matrix
    return Curvature(problem_of_groups(matrix, RATES, np.arange(MUTATIONS)), RATES.fp_rate)


@pytest.fixture(scope="module")
def point() -> Numbers:
    random = np.random.default_rng(0)
    return np.concatenate(
        (np.log(random.dirichlet(np.ones(MUTATIONS + 1))), random.normal(-1, 0.5, MUTATIONS))
    )


def shares_and_rates(point: Numbers) -> tuple[Numbers, Numbers]:
    shares = np.exp(point[: MUTATIONS + 1])
    return shares / shares.sum(), 1.0 / (1.0 + np.exp(-point[MUTATIONS + 1 :]))


def slope_at(curvature: Curvature, point: Numbers) -> Slope:
    return curvature.at(TREE, *shares_and_rates(point))


def test_the_gradient_and_the_information_are_those_of_differences(
    curvature: Curvature, point: Numbers
) -> None:
    gradient, information = [], []
    for direction in np.eye(len(point)) * STEP:
        up, down = (slope_at(curvature, point + sign * direction) for sign in (1, -1))
        gradient.append((up.log_density - down.log_density) / (2 * STEP))
        information.append((down.gradient - up.gradient) / (2 * STEP))
    here = slope_at(curvature, point)
    np.testing.assert_allclose(here.gradient, gradient, atol=1e-6)
    np.testing.assert_allclose(here.information, information, atol=1e-6)
    assert abs(here.information).max() > 1.0, "the control: it is not nothing"


def test_the_climb_ends_where_nothing_leads_up(curvature: Curvature, point: Numbers) -> None:
    begin = shares_and_rates(point)
    shares, rates = curvature.climbed(TREE, *begin)
    end = curvature.at(TREE, shares, rates)
    assert end.log_density > curvature.at(TREE, *begin).log_density + 1.0
    for direction in np.eye(len(point)) * 0.1:
        for sign in (1, -1):
            beside = np.concatenate((np.log(shares), log_odds(rates))) + sign * direction
            assert slope_at(curvature, beside).log_density < end.log_density + 0.05
