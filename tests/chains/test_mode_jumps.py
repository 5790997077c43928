"""Jumps of chains between fitted trees; tests/suites/test_dropout.py tests that they keep the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import NumpyCells
from syclade.host.chains.gibbs import GibbsSteps, with_rates
from syclade.host.chains.jump import Jumps
from syclade.host.chains.mode_jumps import FittedTree, ModeJumps
from syclade.host.chains.native_cells import NativeCells
from syclade.host.chains.plan import Plan
from syclade.host.chains.points import Points
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.shares import log_shares_of
from syclade.host.data.model.dropout import LOWEST, rates_by, slot_rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.support.fitted_trees import FittedTrees
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.shares import DROPOUT_RATES, dropout_plan, dropout_start, listed, of_one, points_of

Numbers = NDArray[np.float64]

FP_RATE = DROPOUT_RATES.fp_rate
TREES = (
    FittedTree(
        np.array([3, 0, 0, 3], dtype=np.int32),
        -100.0,
        np.array([0.5, 0.3, 0.05, 0.15]),
        np.array([0.1, 0.4, 0.4]),
    ),
    FittedTree(
        np.array([1, 3, 0, 3], dtype=np.int32),
        -101.0,
        np.array([0.06, 0.7, 0.04, 0.2]),
        np.array([0.3, 0.05, 0.5]),
    ),
)
SHAPES = np.array([2.0, 0.5, 0.5, 8.0])
COMMON = np.array([[1.5, 6.0]])
NUMBERS = np.array([[0.5, 0.5, 0.5]])


def plan_of(cells: int = 200) -> Plan:
    return dropout_plan(simulate(cells, 3, 0.05, 0.3, 0.1, 3).matrix, (0, 1, 2))


def point_at(plan: Plan, tree: FittedTree, shares: list[float], rates: list[float]) -> Points:
    """Return where one chain is."""
    state = replace(initial_state(plan, 1, 0), parents=tree.parents)
    own = slot_rates(plan.problem, FP_RATE, np.array(rates))
    log_shares = log_shares_of(plan.problem, np.array(shares))
    return points_of([with_rates(plan, state, replace(own, log_shares=log_shares))], SHAPES)


def shares_in(plan: Plan, points: Points) -> Numbers:
    return np.asarray(np.exp2(points.log_shares[0] * 2.0**-plan.problem.scale_bits))


def rates_at(plan: Plan, points: Points) -> Numbers:
    return np.asarray(rates_by(plan.problem, FP_RATE, points.weights)[0])


def test_a_jump_from_a_fit_leads_to_the_other_fit() -> None:
    plan, (here, there) = plan_of(), TREES
    points = point_at(plan, here, here.shares.tolist(), here.fn_rates.tolist())
    jumps = ModeJumps(plan.problem, FP_RATE, TREES).propose(points, COMMON, NUMBERS)
    assert jumps.points.parents.tolist() == [there.parents.tolist()]
    np.testing.assert_allclose(shares_in(plan, jumps.points), there.shares, rtol=1e-3)
    np.testing.assert_allclose(rates_at(plan, jumps.points), there.fn_rates, rtol=2e-3)
    assert jumps.points.shapes.tolist() == [[0.5, 2.0, 0.5, 8.0]], "concentrations go with nodes by rank"


@pytest.mark.parametrize(
    "shares", [[0.5, 0.3, 0.05, 0.15], [0.25, 0.4, 0.3, 0.05], [0.9, 0.05, 1e-4, 0.0499]]
)
def test_a_jump_back_undoes_a_jump(shares: list[float]) -> None:
    plan = plan_of()
    source = ModeJumps(plan.problem, FP_RATE, TREES)
    points = point_at(plan, TREES[0], shares, [0.2, 0.5, 0.01])
    there = source.propose(points, COMMON, NUMBERS)
    back = source.propose(there.points, COMMON, NUMBERS)
    assert there.points.parents.tolist() != back.points.parents.tolist() == [TREES[0].parents.tolist()]
    np.testing.assert_allclose(back.points.log_shares, points.log_shares, atol=4)
    np.testing.assert_allclose(back.points.weights, points.weights, atol=40)
    assert back.points.shapes.tolist() == [SHAPES.tolist()]
    assert back.log_ratios == pytest.approx(-there.log_ratios, abs=1e-2)
    assert abs(there.log_ratios) > 0.1, "the control: it is no constant"


def test_the_ratio_has_the_volume_of_the_map() -> None:
    """Of a small cube of shares and rates, by differences, with the prior densities at both ends."""
    plan = plan_of()
    source = ModeJumps(plan.problem, FP_RATE, TREES)
    shares, rates = np.array([0.45, 0.3, 0.1, 0.15]), np.array([0.2, 0.35, 0.05])

    def image(point: Numbers) -> tuple[Numbers, Jumps]:
        first, last = point[:3], point[3:]
        own = [*first.tolist(), 1.0 - float(first.sum())]
        jumps = source.propose(point_at(plan, TREES[0], own, last.tolist()), COMMON, NUMBERS)
        there = shares_in(plan, jumps.points)
        return np.concatenate((there[:3], rates_at(plan, jumps.points))), jumps

    def log_prior(point: Numbers, shapes: Numbers) -> float:
        own, (common,) = np.append(point[:3], 1.0 - point[:3].sum()), COMMON
        of_rates = (common[0] - 1.0) * np.log(point[3:]) + (common[1] - 1.0) * np.log1p(-point[3:])
        return float(((shapes - 1.0) * np.log(own)).sum() + of_rates.sum())

    point = np.concatenate((shares[:3], rates))
    columns = []
    for at in range(6):
        step = np.zeros(6)
        step[at] = 0.002
        columns.append((image(point + step)[0] - image(point - step)[0]) / 0.004)
    there, jumps = image(point)
    volume = np.log(abs(np.linalg.det(np.array(columns))))
    expected = log_prior(there, jumps.points.shapes[0]) - log_prior(point, SHAPES) + volume
    assert jumps.log_ratios == pytest.approx(expected, abs=0.1)


def test_trees_that_are_not_in_the_list_have_no_jump() -> None:
    plan = plan_of()
    source = ModeJumps(plan.problem, FP_RATE, TREES)
    fit = TREES[0].shares.tolist()
    elsewhere = TREES[0]._replace(parents=np.array([3, 3, 3, 3], dtype=np.int32))
    points = point_at(plan, elsewhere, fit, [0.2, 0.5, 0.1])
    jumps = source.propose(points, COMMON, NUMBERS)
    assert jumps.log_ratios == -np.inf
    assert jumps.points is points
    assert np.isfinite(source.propose(point_at(plan, TREES[0], fit, [0.2, 0.5, 0.1]), COMMON, NUMBERS)[1])


def test_a_chain_without_a_jump_stays_beside_one_that_jumps() -> None:
    plan = plan_of()
    fit = TREES[0].shares.tolist()
    elsewhere = TREES[0]._replace(parents=np.array([3, 3, 3, 3], dtype=np.int32))
    first, second = (point_at(plan, tree, fit, [0.2, 0.5, 0.1]) for tree in (elsewhere, TREES[0]))
    both = Points(
        np.concatenate((first.parents, second.parents)),
        np.concatenate((first.weights, second.weights)),
        np.concatenate((first.log_shares, second.log_shares)),
        np.concatenate((first.shapes, second.shapes)),
    )
    source = ModeJumps(plan.problem, FP_RATE, TREES)
    jumps = source.propose(both, np.repeat(COMMON, 2, axis=0), np.repeat(NUMBERS, 2, axis=0))
    alone = source.propose(second, COMMON, NUMBERS)
    assert jumps.log_ratios.tolist() == [-np.inf, alone.log_ratios[0]]
    assert listed(of_one(jumps.points, 0)) == listed(first)
    assert listed(of_one(jumps.points, 1)) == listed(alone.points) != listed(second)


def test_values_at_limits_stay() -> None:
    plan = plan_of()
    source = ModeJumps(plan.problem, FP_RATE, TREES)
    points = point_at(plan, TREES[0], [0.55, 0.3, 1e-13, 0.15], [0.2, LOWEST, 0.1])
    jumps = source.propose(points, COMMON, NUMBERS)
    after_rates = rates_at(plan, jumps.points)
    assert after_rates[1] == pytest.approx(LOWEST, rel=1e-3)
    assert jumps.points.log_shares[0, 2] == points.log_shares[0, 2]
    assert after_rates[0] != pytest.approx(0.2, rel=0.01), "the control: others change"


def test_likely_trees_are_proposed_more_often() -> None:
    plan, third = plan_of(), np.array([3, 3, 3, 3], dtype=np.int32)
    trees = [*TREES, TREES[1]._replace(parents=third, log_likelihood=-104.0)]
    source, found = ModeJumps(plan.problem, FP_RATE, trees), []
    points = point_at(plan, TREES[0], TREES[0].shares.tolist(), TREES[0].fn_rates.tolist())
    for number in np.linspace(0.005, 0.995, 100):
        jumps = source.propose(points, COMMON, np.array([[number, 0.5, 0.5]]))
        found.append(jumps.points.parents.tolist() == [third.tolist()])
    assert 0 < sum(found) < 20


def test_values_of_few_cells_stay() -> None:
    """Of ten cells, fits say nothing of a node with half a cell."""
    plan = plan_of(10)
    points = point_at(plan, TREES[0], TREES[0].shares.tolist(), [0.1, 0.4, 0.07])
    jumps = ModeJumps(plan.problem, FP_RATE, TREES).propose(points, COMMON, NUMBERS)
    shares = shares_in(plan, jumps.points)
    assert shares[2] == pytest.approx(0.05, rel=1e-3)
    assert shares[1] == pytest.approx(0.7, rel=0.4), "the control: others change"


def test_jumps_have_the_same_bits_by_numpy_and_by_kernels() -> None:
    plan = plan_of(60)
    draws = RateDraws(plan.problem, FP_RATE, np.arange(3))
    fits = FittedTrees(plan.problem, FP_RATE, 0.2).fit(
        np.array(tree, dtype=np.int32) for tree in all_trees(3)
    )
    jumps, spare = ModeJumps(plan.problem, FP_RATE, fits), plan.settings["sum_spare"]
    states = [dropout_start(plan, 1, chain) for chain in range(6)]
    found = [
        GibbsSteps(plan, 1, draws, cells, jumps=[jumps])(states)
        for cells in (NumpyCells(plan.problem, spare), NativeCells(plan.problem, 6, spare))
    ]
    for one, other in zip(*found, strict=True):
        assert (one.parents.tolist(), one.score, one.rates) == (
            other.parents.tolist(),
            other.score,
            other.rates,
        )
    alone = GibbsSteps(plan, 1, draws, jumps=[jumps])(states[2:3])[0]
    assert (alone.score, alone.rates) == (found[0][2].score, found[0][2].rates)
    assert any(
        one.parents.tolist() != state.parents.tolist() for one, state in zip(found[0], states, strict=True)
    )
