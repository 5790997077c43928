"""Places of mutations drawn given the nodes of the cells: compiled, in numpy, and as they are defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.fallback.shares import relocation
from syclade.host.chains.cells_at_nodes import NUMBERS_OF_PLACES, NumpyCells, cells_by_column
from syclade.host.chains.gibbs import GibbsSteps
from syclade.host.chains.native_cells import NativeCells
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.shares import uniform_log_shares
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.dropout import problem_of_groups, slot_rates
from syclade.host.data.model.problem import SlotRates, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import are_trees
from syclade.kernels.shares import relocation_arguments
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.shares import place_cells

RATES = Rates(0.05, 0.3)


def plan_of(mutations: int, cells: int, *, own_rates: bool = False) -> Plan:
    """Return a plan of random values, a fifth of them missing."""
    random = np.random.default_rng(mutations + cells)
    values = random.choice([0, 1, 3], p=[0.5, 0.3, 0.2], size=(mutations, cells)).astype(np.uint8)
    matrix = matrix_from_array(values)
    if own_rates:
        problem = problem_of_groups(matrix, RATES, np.arange(mutations))
    else:
        problem = make_problem(matrix, RATES, octaves=True)
    return make_plan(problem, score=score_named("shares", problem))


def states_of(
    plan: Plan, random: np.random.Generator, *, own_rates: bool
) -> tuple[list[ChainState], list[SlotRates]]:
    """Return the first states of three chains, and their rates, which are random if each has its own."""
    problem, states = plan.problem, [initial_state(plan, 1, chain) for chain in range(3)]
    rates = [
        slot_rates(problem, 0.01, random.uniform(0.1, 0.5, problem.mutations)) if own_rates else state.rates
        for state in states
    ]
    return states, rates


@pytest.mark.parametrize(
    ("mutations", "cells", "own_rates"),
    [(1, 1, False), (2, 9, False), (12, 3, False), (40, 33, True), (30, 200, False), (150, 20, False)],
)
def test_native_code_has_the_bits_of_numpy(mutations: int, cells: int, own_rates: bool) -> None:
    """Cells at many nodes, at few and all at one; the scores that follow are of the new trees."""
    plan, random = plan_of(mutations, cells, own_rates=own_rates), np.random.default_rng(1)
    problem, spare = plan.problem, plan.settings["sum_spare"]
    states, rates = states_of(plan, random, own_rates=own_rates)
    nodes = np.stack(
        [
            random.integers(0, problem.nodes, cells),
            random.integers(0, min(3, problem.nodes), cells),
            np.full(cells, mutations // 2),
        ]
    )
    logs = np.zeros((3, problem.nodes), dtype=np.int32)
    native, numpy = NativeCells(problem, 3, spare), NumpyCells(problem, spare)
    for one in (native, numpy):
        place_cells(one, states, rates)
    before = np.stack([state.parents for state in states])
    for turn in range(3):
        numbers = random.random((3, NUMBERS_OF_PLACES * mutations))
        trees = native.relocate(nodes, numbers)
        np.testing.assert_array_equal(numpy.relocate(nodes, numbers), trees)
        assert are_trees(trees)
        np.testing.assert_array_equal(native.totals(logs), numpy.totals(logs))
        assert turn or mutations == 1 or (trees != before).any()


def test_both_draw_as_often() -> None:
    assert (relocation.SLIDES, relocation._LOWEST) == (
        relocation_arguments.SLIDES,
        relocation_arguments.LOWEST,
    )


def weights_of_trees(plan: Plan, trees: Sequence[Sequence[int]], nodes: NDArray[np.int64]) -> list[float]:
    """Return the probability of each tree given the nodes of the cells, not normalised."""
    gains = plan.problem.weight_rows()[:, cells_by_column(plan.problem)] * 2.0**-plan.problem.scale_bits
    found = []
    for tree in trees:
        total = 0.0
        for cell, node in enumerate(nodes.tolist()):
            above = node
            while above != plan.problem.mutations:
                total += gains[above, cell]
                above = tree[above]
        found.append(2.0**total)
    return found


def p_value(weights: Sequence[float], visits: NDArray[np.int64]) -> float:
    """Return the p-value of independent visits of trees with these weights; rare trees are one."""
    expected = np.array(weights) / np.sum(weights) * visits.sum()
    often = expected >= 5
    wanted = np.append(expected[often], max(expected[~often].sum(), 1e-3))
    found = np.append(visits[often], visits[~often].sum())
    return float(stats.chisquare(found, wanted * (found.sum() / wanted.sum())).pvalue)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "nodes",
    [[0, 1, 3, 3, 2], [0, 0, 0, 3, 3], [3, 3, 3, 3, 3], [0, 1, 1, 0, 1]],
    ids=["at all nodes", "two nodes without", "at the root", "one node without"],
)
def test_trees_have_their_probability_given_the_nodes_of_the_cells(nodes: list[int]) -> None:
    """All 16 trees of three mutations; for other nodes of the cells, the visits are rejected."""
    chains, plan = 500, plan_of(3, 5)
    trees = list(all_trees(3))
    number = {tuple(tree): at for at, tree in enumerate(trees)}
    cells = NativeCells(plan.problem, chains, plan.settings["sum_spare"])
    states = [initial_state(plan, 3, chain) for chain in range(chains)]
    place_cells(cells, states, [state.rates for state in states])
    visits, random = np.zeros(len(trees), dtype=np.int64), np.random.default_rng(4)
    where = np.tile(np.array(nodes), (chains, 1))
    for turn in range(60):
        drawn = cells.relocate(where, random.random((chains, NUMBERS_OF_PLACES * 3)))
        if turn >= 20 and turn % 4 == 0:
            for tree in drawn.tolist():
                visits[number[tuple(tree)]] += 1
    assert p_value(weights_of_trees(plan, trees, np.array(nodes)), visits) > 0.001
    other = np.array([2, 2, 1, 0, 2])
    assert p_value(weights_of_trees(plan, trees, other), visits) < 1e-6


@pytest.mark.parametrize(("cells", "drawn"), [(25, 1), (600, 0)])
def test_many_columns_hold_mutations_where_they_are(cells: int, drawn: int) -> None:
    """Gibbs steps draw places with fewer than eight columns per mutation."""
    plan = plan_of(4, cells)
    assert (plan.problem.columns < 32) == bool(drawn)
    state = initial_state(plan, 1, 0)
    begun = replace(state, rates=replace(state.rates, log_shares=uniform_log_shares(plan.problem)))
    sampler = NumpyCells(plan.problem, plan.settings["sum_spare"])
    with patch.object(sampler, "relocate", wraps=sampler.relocate) as relocate:
        GibbsSteps(plan, 1, cells=sampler)([begun])
    assert relocate.call_count == drawn
