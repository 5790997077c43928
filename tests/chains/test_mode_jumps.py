"""Jumps of chains between fitted trees; tests/suites/test_dropout.py tests that they keep the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import NumpyCells
from syclade.host.chains.gibbs import GibbsSteps, with_rates
from syclade.host.chains.jump import Jump
from syclade.host.chains.mode_jumps import FittedTree, ModeJumps
from syclade.host.chains.native_cells import NativeCells
from syclade.host.chains.plan import Plan
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.shares import log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import LOWEST, rates_in, slot_rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.support.fitted_trees import FittedTrees
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.shares import DROPOUT_RATES, dropout_plan, dropout_start

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
COMMON = np.array([[1.5], [6.0]])
NUMBERS = np.array([0.5, 0.5, 0.5])


def plan_of(cells: int = 200) -> Plan:
    return dropout_plan(simulate(cells, 3, 0.05, 0.3, 0.1, 3).matrix, (0, 1, 2))


def state_at(plan: Plan, tree: FittedTree, shares: list[float], rates: list[float]) -> ChainState:
    state = replace(initial_state(plan, 1, 0), parents=tree.parents)
    own = slot_rates(plan.problem, FP_RATE, np.array(rates))
    return with_rates(plan, state, replace(own, log_shares=log_shares_of(plan.problem, np.array(shares))))


def after(state: ChainState, jump: Jump) -> ChainState:
    return replace(state, parents=jump.parents, rates=jump.rates)


def shares_in(plan: Plan, state: ChainState) -> list[float]:
    logs = np.array(state.rates.log_shares) * 2.0**-plan.problem.scale_bits
    return np.exp2(logs).tolist()  # type: ignore[no-any-return]


def test_a_jump_from_a_fit_leads_to_the_other_fit() -> None:
    plan, (here, there) = plan_of(), TREES
    state = state_at(plan, here, here.shares.tolist(), here.fn_rates.tolist())
    jump = ModeJumps(plan.problem, FP_RATE, TREES).propose(state, SHAPES, COMMON, NUMBERS)
    assert jump is not None
    assert jump.parents.tolist() == there.parents.tolist()
    np.testing.assert_allclose(shares_in(plan, after(state, jump)), there.shares, rtol=1e-3)
    np.testing.assert_allclose(rates_in(plan.problem, FP_RATE, jump.rates), there.fn_rates, rtol=2e-3)
    assert jump.shapes.tolist() == [0.5, 2.0, 0.5, 8.0], "concentrations go with the nodes by their rank"


@pytest.mark.parametrize(
    "shares", [[0.5, 0.3, 0.05, 0.15], [0.25, 0.4, 0.3, 0.05], [0.9, 0.05, 1e-4, 0.0499]]
)
def test_a_jump_back_undoes_a_jump(shares: list[float]) -> None:
    plan = plan_of()
    jumps = ModeJumps(plan.problem, FP_RATE, TREES)
    state = state_at(plan, TREES[0], shares, [0.2, 0.5, 0.01])
    there = jumps.propose(state, SHAPES, COMMON, NUMBERS)
    assert there is not None
    back = jumps.propose(after(state, there), there.shapes, COMMON, NUMBERS)
    assert back is not None
    assert back.parents.tolist() == TREES[0].parents.tolist()
    np.testing.assert_allclose(back.rates.log_shares, state.rates.log_shares, atol=4)
    np.testing.assert_allclose(back.rates.weights, state.rates.weights, atol=40)
    assert back.shapes.tolist() == SHAPES.tolist()
    assert back.log_ratio == pytest.approx(-there.log_ratio, abs=1e-2)
    assert abs(there.log_ratio) > 0.1, "the control: it is no constant"


def test_the_ratio_has_the_volume_of_the_map() -> None:
    """Of a small cube of shares and rates, by differences, with the prior densities at both ends."""
    plan = plan_of()
    jumps = ModeJumps(plan.problem, FP_RATE, TREES)
    shares, rates = np.array([0.45, 0.3, 0.1, 0.15]), np.array([0.2, 0.35, 0.05])

    def image(point: Numbers) -> tuple[Numbers, Jump]:
        first, last = point[:3], point[3:]
        own = [*first.tolist(), 1.0 - float(first.sum())]
        jump = jumps.propose(state_at(plan, TREES[0], own, last.tolist()), SHAPES, COMMON, NUMBERS)
        assert jump is not None
        there = np.exp2(np.array(jump.rates.log_shares) * 2.0**-plan.problem.scale_bits)
        return np.concatenate((there[:3], rates_in(plan.problem, FP_RATE, jump.rates))), jump

    def log_prior(point: Numbers, shapes: Numbers) -> float:
        own = np.append(point[:3], 1.0 - point[:3].sum())
        of_rates = (COMMON[0] - 1.0) * np.log(point[3:]) + (COMMON[1] - 1.0) * np.log1p(-point[3:])
        return float(((shapes - 1.0) * np.log(own)).sum() + of_rates.sum())

    point = np.concatenate((shares[:3], rates))
    columns = []
    for at in range(6):
        step = np.zeros(6)
        step[at] = 0.002
        columns.append((image(point + step)[0] - image(point - step)[0]) / 0.004)
    there, jump = image(point)
    volume = np.log(abs(np.linalg.det(np.array(columns))))
    expected = log_prior(there, jump.shapes) - log_prior(point, SHAPES) + volume
    assert jump.log_ratio == pytest.approx(expected, abs=0.1)


def test_trees_that_are_not_in_the_list_have_no_jump() -> None:
    plan = plan_of()
    jumps = ModeJumps(plan.problem, FP_RATE, TREES)
    fit = TREES[0].shares.tolist()
    elsewhere = TREES[0]._replace(parents=np.array([3, 3, 3, 3], dtype=np.int32))
    assert jumps.propose(state_at(plan, elsewhere, fit, [0.2, 0.5, 0.1]), SHAPES, COMMON, NUMBERS) is None
    assert jumps.propose(state_at(plan, TREES[0], fit, [0.2, 0.5, 0.1]), SHAPES, COMMON, NUMBERS) is not None


def test_values_at_limits_stay() -> None:
    plan = plan_of()
    jumps = ModeJumps(plan.problem, FP_RATE, TREES)
    state = state_at(plan, TREES[0], [0.55, 0.3, 1e-13, 0.15], [0.2, LOWEST, 0.1])
    jump = jumps.propose(state, SHAPES, COMMON, NUMBERS)
    assert jump is not None
    after_rates = rates_in(plan.problem, FP_RATE, jump.rates)
    assert after_rates[1] == pytest.approx(LOWEST, rel=1e-3)
    assert jump.rates.log_shares[2] == state.rates.log_shares[2]
    assert after_rates[0] != pytest.approx(0.2, rel=0.01), "the control: others change"


def test_likely_trees_are_proposed_more_often() -> None:
    plan, third = plan_of(), np.array([3, 3, 3, 3], dtype=np.int32)
    trees = [*TREES, TREES[1]._replace(parents=third, log_likelihood=-104.0)]
    jumps = ModeJumps(plan.problem, FP_RATE, trees)
    state = state_at(plan, TREES[0], TREES[0].shares.tolist(), TREES[0].fn_rates.tolist())
    found = []
    for number in np.linspace(0.005, 0.995, 100):
        jump = jumps.propose(state, SHAPES, COMMON, np.array([number, 0.5, 0.5]))
        assert jump is not None
        found.append(jump.parents.tolist() == third.tolist())
    assert 0 < sum(found) < 20


def test_values_of_few_cells_stay() -> None:
    """Of ten cells, fits say nothing of a node with half a cell."""
    plan = plan_of(10)
    jumps = ModeJumps(plan.problem, FP_RATE, TREES)
    state = state_at(plan, TREES[0], TREES[0].shares.tolist(), [0.1, 0.4, 0.07])
    jump = jumps.propose(state, SHAPES, COMMON, NUMBERS)
    assert jump is not None
    assert shares_in(plan, after(state, jump))[2] == pytest.approx(0.05, rel=1e-3)
    assert shares_in(plan, after(state, jump))[1] == pytest.approx(0.7, rel=0.4), "the control: others change"


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
