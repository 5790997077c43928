"""Moves along ridges, and of single shares: alone, they sample the density by definition on their line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest

from syclade.host.chains.gibbs import with_rates
from syclade.host.chains.jump import LOWEST_LOG_SHARE, Jumps, Proposals, accepts, log_shares_in
from syclade.host.chains.plan import Plan
from syclade.host.chains.points import Points
from syclade.host.chains.ridge_moves import RidgeMoves
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.share_moves import ShareMoves
from syclade.host.chains.shares import log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.dropout import LOWEST, rates_by, slot_rates
from tests.suites.rows.shares import DROPOUT_RATES, dropout_plan, listed, of_one, points_of

Numbers = NDArray[np.float64]

FP_RATE = DROPOUT_RATES.fp_rate
SEEN, MISSED = 12, 8
TREE = np.array([1, 1], dtype=np.int32)
SHAPES, COMMON = np.array([0.7, 0.4]), np.array([[1.5, 4.0]])
SHARES, RATE = np.array([0.8, 0.2]), 0.3
STEPS = 16_000


@pytest.fixture(scope="module")
def plan() -> Plan:
    """One mutation, seen in 12 of 20 cells: above it is the root."""
    values = np.repeat(np.array([1, 0], dtype=np.uint8), (SEEN, MISSED))[None]
    return dropout_plan(matrix_from_array(values, ["A"]), (0,))


def start(plan: Plan) -> ChainState:
    state = replace(initial_state(plan, 1, 0), parents=TREE)
    own = slot_rates(plan.problem, FP_RATE, np.array([RATE]))
    return with_rates(plan, state, replace(own, log_shares=log_shares_of(plan.problem, SHARES)))


def log_likelihood(root: Numbers, missed: Numbers) -> Numbers:
    seen = FP_RATE * root + (1.0 - missed) * (1.0 - root)
    return np.asarray(SEEN * np.log(seen) + MISSED * np.log1p(-seen))


def log_prior(root: Numbers, missed: Numbers) -> Numbers:
    """Return the density by the root's share and the rate."""
    ((a, b),) = COMMON
    of_shares = (SHAPES[1] - 1) * np.log(root) + (SHAPES[0] - 1) * np.log1p(-root)
    return np.asarray(of_shares + (a - 1) * np.log(missed) + (b - 1) * np.log1p(-missed))


def on_ridge() -> tuple[Numbers, Numbers]:
    """Return shares of the root along the ridge, and the cumulative density by definition.

    The line is that of all points with the same share of cells in which A is seen, (1 - rate) (1 - root). Of
    the cells beside it, the root's part t has the density of (root, rate) times their volume by (t, cells).
    """
    seen = (1.0 - RATE) * SHARES[0]
    unseen = 1.0 - seen
    part = np.exp(np.linspace(math.log(1e-13), 0.0, 200_001))[:-1]
    root = part * unseen
    missed = (1.0 - part) * unseen / (1.0 - root)
    inside = missed > LOWEST
    part, root, missed = part[inside], root[inside], missed[inside]
    log_density = log_prior(root, missed) + log_likelihood(root, missed) - np.log1p(-root)
    mass = np.exp(log_density - log_density.max()) * part  # by the logarithm of the part
    return root, mass.cumsum() / mass.sum()


def on_shares() -> tuple[Numbers, Numbers]:
    """Return shares of the root, and their cumulative density at the rate of the start."""
    root = 1.0 / (1.0 + np.exp(-np.linspace(-27.0, 27.0, 200_001)))
    missed = np.full_like(root, RATE)
    log_density = log_prior(root, missed) + log_likelihood(root, missed)
    mass = np.exp(log_density - log_density.max()) * root * (1.0 - root)  # by the log odds
    return root, mass.cumsum() / mass.sum()


def ridges(plan: Plan) -> Proposals:
    return RidgeMoves(plan.problem, FP_RATE)


def shares(plan: Plan) -> Proposals:
    return ShareMoves(plan.problem)


LINES = [(ridges, on_ridge), (shares, on_shares)]


def p_value(
    plan: Plan,
    made: Callable[[Plan], Proposals],
    line: Callable[[], tuple[Numbers, Numbers]],
    change: Callable[[Jumps], Jumps] = lambda jumps: jumps,
) -> float:
    """Return the p-value of the root's share in a chain of proposals alone."""
    source, points, random, found = made(plan), points_of([start(plan)], SHAPES), np.random.default_rng(5), []

    def place(points: Points) -> tuple[Numbers, Numbers]:
        """Return the root's share and the rate."""
        root = np.exp(log_shares_in(plan.problem, points.log_shares)[:, 1])
        return root, rates_by(plan.problem, FP_RATE, points.weights)[:, 0]

    root, missed = place(points)
    for step in range(STEPS):
        numbers = random.random((1, 3))
        jumps = source.propose(points, COMMON, numbers)
        gains = log_likelihood(*place(jumps.points)) - log_likelihood(root, missed)
        if accepts(change(jumps), gains, numbers[:, 2]).all():
            points, (root, missed) = jumps.points, place(jumps.points)
        if step % 8 == 0:
            found.append(float(root[0]))
    shares, ends = line()
    return float(kstest(found, lambda values: np.interp(values, shares, ends)).pvalue)


def without_volumes(jumps: Jumps) -> Jumps:
    return jumps._replace(log_ratios=np.where(np.isfinite(jumps.log_ratios), 0.0, -np.inf))


@pytest.mark.statistical
@pytest.mark.parametrize(("made", "line"), LINES)
def test_proposals_sample_the_density_of_their_line(
    plan: Plan, made: Callable[[Plan], Proposals], line: Callable[[], tuple[Numbers, Numbers]]
) -> None:
    """The control leaves the volumes out."""
    assert p_value(plan, made, line) > 0.01
    assert p_value(plan, made, line, without_volumes) < 1e-4


def test_a_ridge_keeps_the_cells_in_which_a_mutation_is_seen(plan: Plan) -> None:
    points = points_of([start(plan)], SHAPES)
    jumps = ridges(plan).propose(points, COMMON, np.array([[0.5, 0.2, 0.5]]))
    assert np.isfinite(jumps.log_ratios).all()
    root = math.exp(log_shares_in(plan.problem, jumps.points.log_shares)[0, 1])
    ((rate,),) = rates_by(plan.problem, FP_RATE, jumps.points.weights)
    assert (1.0 - rate) * (1.0 - root) == pytest.approx((1.0 - RATE) * SHARES[0], rel=1e-3)
    assert root == pytest.approx(0.4 * (1.0 - (1.0 - RATE) * SHARES[0]), rel=1e-3)
    assert jumps.points.parents is points.parents


@pytest.mark.parametrize("made", [ridges, shares])
def test_a_share_can_be_nothing_and_come_back(plan: Plan, made: Callable[[Plan], Proposals]) -> None:
    """The node is the root in both; its share is at the limit where parts are so small."""
    source, chosen = made(plan), 0.9
    points = points_of([start(plan)], np.array([0.7, 0.01]))
    down = source.propose(points, COMMON, np.array([[chosen, 0.55, 0.5]]))
    assert log_shares_in(plan.problem, down.points.log_shares)[0, 1] < LOWEST_LOG_SHARE
    up = source.propose(down.points, COMMON, np.array([[chosen, 0.25, 0.5]]))
    assert log_shares_in(plan.problem, up.points.log_shares)[0, 1] > LOWEST_LOG_SHARE
    assert np.isfinite(up.log_ratios + down.log_ratios).all()


def test_rates_at_a_limit_have_no_ridge(plan: Plan) -> None:
    """Beside a chain that has one: what is proposed for one chain says nothing of another."""
    state = start(plan)
    own = slot_rates(plan.problem, FP_RATE, np.array([LOWEST]))
    at_limit = with_rates(plan, state, replace(own, log_shares=state.rates.log_shares))
    points = points_of([at_limit, state], SHAPES)
    jumps = ridges(plan).propose(points, np.repeat(COMMON, 2, axis=0), np.tile([0.5, 0.2, 0.5], (2, 1)))
    assert np.isfinite(jumps.log_ratios).tolist() == [False, True]
    assert (jumps.points.log_shares != points.log_shares).any(axis=1).tolist() == [False, True]
    assert (jumps.points.weights != points.weights).any(axis=1).tolist() == [False, True]


@pytest.mark.parametrize("made", [ridges, shares])
def test_chains_have_proposals_of_their_own(plan: Plan, made: Callable[[Plan], Proposals]) -> None:
    """Several at once have those of each alone."""
    points, random = points_of([start(plan)] * 40, SHAPES), np.random.default_rng(2)
    common, numbers = np.repeat(COMMON, 40, axis=0), random.random((40, 3))
    found = made(plan).propose(points, common, numbers)
    for at in range(40):
        one = made(plan).propose(of_one(points, at), COMMON, numbers[at : at + 1])
        assert listed(of_one(found.points, at)) == listed(one.points)
        assert found.log_ratios[at] == one.log_ratios[0]
