"""Shares of the cells at each node, drawn anew between launches; also with a rate for each mutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains import gibbs
from syclade.host.chains.backends import Runner
from syclade.host.chains.cells_at_nodes import CellsAtNodes
from syclade.host.chains.gibbs import GibbsSteps
from syclade.host.chains.moves import GUIDED_MOVES, uniform_guide
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.points import Points, Standing
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named, sum_definition
from syclade.host.chains.state import ChainState, every
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import problem_of_groups, slot_rates
from syclade.host.data.model.problem import SlotRates, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import are_trees
from tests.support.same_bits import ChainRun, Chains, on_encodings

SIZES = {
    "one mutation": (9, 1),
    "small": (40, 17),
    "panels": (150, 12),
    "many blocks": (20, 140),
}
DROPOUT_SIZES = {"a group each": (40, 17), "large groups": (20, 140)}
DROPOUT_RATES = Rates(0.05, 0.3)


@cache
def plan_of(cells: int, mutations: int) -> Plan:
    rates = Rates(0.02, 0.25)
    problem = make_problem(simulate(cells, mutations, 0.02, 0.25, 0.1, 3).matrix, rates, octaves=True)
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(0.3, 0.2, 0.1, 0.2, 0.2),
        score=score_named("shares", problem),
        recorders=(every(1),),
        events=4096,
    )


def spare_of(plan: Plan) -> int:
    return plan.settings["sum_spare"]


def start_of(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain before its first step, with shares that differ between nodes."""
    tables = uniform_guide(plan.labels, plan.problem.unit, plan.gamma)
    return renewed(plan, replace(initial_state(plan, seed, chain), tables=tables), seed)


def renewed(plan: Plan, state: ChainState, seed: int, draws: RateDraws | None = None) -> ChainState:
    return GibbsSteps(plan, seed, draws)([state])[0]


def place_cells(cells: CellsAtNodes, states: Sequence[ChainState], rates: Sequence[SlotRates]) -> None:
    """Place the cells of states at their nodes, with other rates."""
    cells.place(Standing(states).points.parents, np.array([own.weights for own in rates], dtype=np.int64))


def points_of(states: Sequence[ChainState], shapes: NDArray[np.float64]) -> Points:
    """Return where chains are; the concentrations of their nodes are the same, float64, (nodes,)."""
    return Standing(states).points._replace(shapes=np.tile(shapes, (len(states), 1)))


def of_one(points: Points, at: int) -> Points:
    """Return where one of several chains is."""
    row = slice(at, at + 1)
    return Points(points.parents[row], points.weights[row], points.log_shares[row], points.shapes[row])


def listed(points: Points) -> list[list[list[float]]]:
    """Return the numbers of points, which can be compared."""
    return [part.tolist() for part in (points.parents, points.weights, points.log_shares, points.shapes)]


def renew_all(renew: Callable[[Plan, ChainState], ChainState]) -> Callable[[Plan, Runner, int], None]:
    """Return what draws the shares of all slots anew after each stop but the first."""

    def between(plan: Plan, runner: Runner, stop: int) -> None:
        for slot in range(runner.slots if stop > 1 else 0):
            runner.put(slot, renew(plan, runner.get(slot)), runner.info(slot))

    return between


def shares_are_defined(plan: Plan, run: ChainRun) -> None:
    """Check trees and scores, by the definition and by the fast function of the host."""
    of_groups = plan.problem.classes > 3
    for one in (one for all_seen in run.at.values() for one in all_seen):
        state = one.state
        assert are_trees(state.parents[None])
        assert state.score == sum_definition(plan.problem, state.parents, state.rates, plan.settings)
        assert state.score == plan.score_of(state.parents, state.rates)
        assert not of_groups or len(set(state.rates.weights)) > 20
    assert len({one.state.rates.log_shares for seen in run.at.values() for one in seen}) > len(run.at)


def row(name: str, cells: int, mutations: int) -> Chains:
    return Chains(
        f"shares, {name}",
        partial(plan_of, cells, mutations),
        on_encodings("preorder", sycl=mutations > 1),
        seed=5,
        count=2,
        stops=(1, 60, 400, 900),
        start=start_of,
        between=renew_all(partial(renewed, seed=5)),
        define=shares_are_defined,
    )


# ---- a rate of false negatives for each mutation


@cache
def dropout_plan(matrix: Matrix, groups: tuple[int, ...]) -> Plan:
    problem = problem_of_groups(matrix, DROPOUT_RATES, np.array(groups))
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(0.4, 0.3, 0.1, 0.1, 0.1),
        score=score_named("shares", problem),
        recorders=(every(1),),
        events=4096,
    )


@cache
def dropout_case(cells: int, mutations: int) -> tuple[Plan, RateDraws]:
    groups = tuple(np.arange(mutations) % 127)
    matrix = simulate(cells, mutations, 0.05, 0.3, 0.1, 3, fn_range=(0.01, 0.5)).matrix
    plan = dropout_plan(matrix, groups)
    return plan, RateDraws(plan.problem, DROPOUT_RATES.fp_rate, np.array(groups))


def dropout_start(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain with equal rates."""
    groups = (plan.problem.classes - 1) // 2
    rates = slot_rates(plan.problem, DROPOUT_RATES.fp_rate, np.full(groups, DROPOUT_RATES.fn_rate))
    tables = uniform_guide(plan.labels, plan.problem.unit, plan.gamma)
    return gibbs.with_rates(plan, replace(initial_state(plan, seed, chain), tables=tables), rates)


def dropout_row(name: str, cells: int, mutations: int) -> Chains:
    def renew(plan: Plan, state: ChainState) -> ChainState:
        return renewed(plan, state, 5, dropout_case(cells, mutations)[1])

    return Chains(
        f"dropout, {name}",
        lambda: dropout_case(cells, mutations)[0],
        on_encodings("preorder", sycl=name == "a group each"),
        seed=5,
        count=2,
        stops=(1, 60, 300),
        start=lambda plan, seed, chain: renew(plan, dropout_start(plan, seed, chain)),
        between=renew_all(renew),
        define=shares_are_defined,
    )


ROWS = [
    *(row(name, *size) for name, size in SIZES.items()),
    *(dropout_row(name, *size) for name, size in DROPOUT_SIZES.items()),
]
