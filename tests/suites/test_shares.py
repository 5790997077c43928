"""Shares of the cells at each node: the exact posterior, and what stays in a slot."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from unittest.mock import Mock, patch

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains import cells_at_nodes, gibbs
from syclade.host.chains.cells_at_nodes import NumpyCells
from syclade.host.chains.gibbs import GibbsSteps
from syclade.host.chains.moves import GUIDED_MOVES
from syclade.host.chains.native_cells import NativeCells
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.shares import (
    CONCENTRATIONS,
    DOMINANT_CONCENTRATIONS,
    ROOT_CONCENTRATIONS,
    Concentrations,
    draw_concentration,
)
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.shares import SIZES, plan_of, renewed, start_of
from tests.support.backends import NUMPY, assert_equal_chains, assert_equal_states, seen
from tests.support.dirichlet import log_by_concentrations, log_probabilities, log_with_dominant

SEED = 5


@pytest.mark.parametrize(("size", "encoded"), [("panels", 0), ("small", 1)])
def test_trees_that_are_in_the_slot_are_not_put_again(
    size: str, encoded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain goes on alike from its own trees, which stay in the slot, and from copies of them.

    Gibbs steps of small matrices change the tree, but not the best one.
    """
    plan, ends = plan_of(*SIZES[size]), []
    for copied in (True, False):
        with NUMPY.runner(plan, 1, SEED) as runner:
            runner.put(0, replace(start_of(plan, SEED, 0), best_score=2**50))  # the best tree stays the same
            runner.advance(np.full(1, 500))
            state = renewed(plan, runner.get(0), SEED)
            if copied:
                state = replace(state, parents=state.parents.copy(), best_parents=state.best_parents.copy())
            encode = Mock(wraps=runner.encoding.encode)
            monkeypatch.setattr(runner.encoding, "encode", encode)
            runner.put(0, state, runner.info(0))
            assert encode.call_count == (2 if copied else encoded)
            runner.advance(np.full(1, 900))
            ends.append(seen(runner, 0))
    assert_equal_chains(*ends)


# ---- the posterior of a small matrix, by all trees and all attachments


def log_posterior_weights(plan: Plan, shares: bool = True) -> NDArray[np.float64]:
    """Return log P(D, T) + constant for all trees: the sum over all nodes of all cells, and concentrations.

    Given the numbers of cells at the nodes, the integral over the shares is the Dirichlet-multinomial
    distribution. Without shares, every node is equally probable, as in SCITE.
    """
    problem = plan.problem
    cells, nodes = len(problem.column_of), problem.nodes
    places = np.array(list(itertools.product(range(nodes), repeat=cells)))
    counts = np.stack([(places == node).sum(axis=1) for node in range(nodes)], axis=1)
    prior = log_probabilities(counts, dominant=True) if shares else np.zeros(len(places))
    logs = []
    for tree in all_trees(problem.mutations):
        scores = scores_of(plan, tree)[:, problem.column_of] * problem.unit
        data = scores[places, np.arange(cells)].sum(axis=1)
        logs.append(np.logaddexp.reduce(prior + data))
    return np.array(logs)


def scores_of(plan: Plan, tree: Sequence[int]) -> NDArray[np.int64]:
    """Return the score of each distinct column at each node, by the path from the node to the root."""
    weights, nodes = plan.problem.weight_rows(), plan.problem.nodes
    scores = np.zeros((nodes, plan.problem.columns), dtype=np.int64)
    for node in range(nodes):
        above = node
        while above != nodes - 1:
            scores[node] += weights[above]
            above = tree[above]
    return scores


@cache
def visits(mutations: int, cells: int, chains: int, reads: int, swaps: bool = False) -> NDArray[np.int64]:
    """Return how often independent chains with shares are at each tree; with swaps as large trees have."""
    plan = small_plan(cells, mutations)
    number = {tuple(tree): at for at, tree in enumerate(all_trees(mutations))}
    found, renew = np.zeros(len(number), dtype=np.int64), GibbsSteps(plan, SEED)
    with NUMPY.runner(plan, chains, SEED) as runner:
        runner.put_all([start_of(plan, SEED, chain) for chain in range(chains)])
        for read in range(reads):
            runner.advance(np.full(chains, 40 * (read + 1)))
            with patch.object(gibbs, "_LARGE", 0 if swaps else gibbs._LARGE):
                states = renew([state for state, _ in runner.get_all(chains)])
            runner.put_all(states)
            if read >= reads // 4 and read % 2:
                for state in states:
                    found[number[tuple(state.parents.tolist())]] += 1
    return found


def small_matrix(cells: int, mutations: int) -> Matrix:
    """Return cells of which most have the same few values: unequal shares are probable."""
    values = np.ones((mutations, cells), dtype=np.uint8)
    values[1:, : cells // 2] = 3
    values[0, -1] = 0
    return matrix_from_array(values, [f"M{row}" for row in range(mutations)])


@cache
def small_plan(cells: int, mutations: int) -> Plan:
    """Return a plan for `small_matrix`."""
    problem = make_problem(small_matrix(cells, mutations), Rates(0.05, 0.3), octaves=True)
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(0.5, 0.3, 0.2, 0, 0),
        score=score_named("shares", problem),
    )


def p_value(expected_logs: NDArray[np.float64], found: NDArray[np.int64]) -> float:
    """Return the p-value of nearly independent visits of all trees."""
    weights = np.exp(expected_logs - expected_logs.max())
    expected = weights / weights.sum() * found.sum()
    often = expected >= 5
    visited, wanted = np.append(found[often], found[~often].sum()), np.append(expected[often], 1e-9)
    wanted[-1] += expected[~often].sum()
    some = wanted > 1e-6
    scaled = wanted[some] * (visited[some].sum() / wanted[some].sum())
    return float(stats.chisquare(visited[some], scaled).pvalue)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "cells", "chains", "swaps"), [(2, 6, 100, False), (3, 6, 50, False), (3, 6, 100, True)]
)
def test_chains_sample_the_posterior_with_shares(
    mutations: int, cells: int, chains: int, swaps: bool
) -> None:
    """The control is the posterior of cells at uniformly random nodes, which the visits reject."""
    plan, found = small_plan(cells, mutations), visits(mutations, cells, chains, 30, swaps)
    assert p_value(log_posterior_weights(plan), found) > 0.005
    assert p_value(log_posterior_weights(plan, shares=False), found) < 1e-6


def test_a_dominant_node_leaves_the_sizes_of_others_alone() -> None:
    """Beside a node of nearly all cells, equal sizes of all others stay probable, as they are without it."""
    others = [12, 13, 11, 14, 12, 13, 12]
    with_it, without = np.array([1900, *others, 13]), np.array([*others, 13])
    for dominant, low in ((True, False), (False, True)):
        drawn = [draw_concentration(with_it, (at + 0.5) / 50, dominant=dominant).node for at in range(50)]
        assert (np.median(drawn) < 1.0) == low
    assert np.median([draw_concentration(without, (at + 0.5) / 50).node for at in range(50)]) > 1.0


@pytest.mark.parametrize("cells", [0, 3, 700, 40_000])  # with more than are kept in a table, too
def test_a_concentration_is_drawn_by_the_density_of_counts(cells: int) -> None:
    """The Dirichlet-multinomial density, each term as it is written."""
    counts = np.random.default_rng(cells).multinomial(cells, [0.2, 0.3, 0.1, 0, 0.4])
    grid = list(itertools.product(CONCENTRATIONS, ROOT_CONCENTRATIONS))
    logs = log_by_concentrations(counts[None]).ravel()
    ends = np.cumsum(np.exp(logs - logs.max()))
    for uniform in np.linspace(0.001, 0.999, 40):
        expected = grid[np.flatnonzero(ends > uniform * ends[-1])[0]]
        assert draw_concentration(counts, uniform) == Concentrations(*expected)


@pytest.mark.parametrize("cells", [0, 3, 700, 40_000])
def test_concentrations_with_a_dominant_node_have_the_density_of_counts(cells: int) -> None:
    """Without one as often as with one, before there are cells; then as the probabilities of counts say."""
    counts = np.random.default_rng(cells).multinomial(cells, [0.04, 0.8, 0.06, 0.05, 0.05])
    alone, beside = log_by_concentrations(counts[None])[0], log_with_dominant(counts[None])[0]
    shape = beside.shape
    logs = np.concatenate([(alone - np.log(alone.size)).ravel(), (beside - np.log(beside.size)).ravel()])
    expected = np.exp(logs - logs.max())
    expected /= expected.sum()
    drawn = np.zeros(len(expected))
    for at in range(4000):
        found = draw_concentration(counts, (at + 0.5) / 4000, dominant=True)
        place = CONCENTRATIONS.index(found.node), ROOT_CONCENTRATIONS.index(found.root)
        if found.dominant_at < 0:
            drawn[np.ravel_multi_index(place, alone.shape)] += 1
        else:
            which = DOMINANT_CONCENTRATIONS.index(found.dominant), found.dominant_at
            drawn[alone.size + np.ravel_multi_index((*place, *which), shape)] += 1
    drawn /= drawn.sum()
    of_kind = expected[: alone.size].sum()
    assert drawn[: alone.size].sum() == pytest.approx(of_kind, abs=0.02)
    for axis in range(4):
        others = tuple(one for one in range(4) if one != axis)
        found_here, here = (one[alone.size :].reshape(shape).sum(axis=others) for one in (drawn, expected))
        np.testing.assert_allclose(found_here, here, atol=0.02)
    if cells == 700:
        assert of_kind < 0.5
        assert expected[alone.size :].reshape(shape)[..., 1].sum() > 0.4  # the node that has most cells


def test_the_root_has_a_concentration_of_its_own() -> None:
    """Nine of ten cells without a mutation say nothing of how the others are spread."""
    spread, few = np.array([60, 60, 60, 60, 60, 60]), np.array([3, 0, 0, 177, 0, 0])
    for others in (spread, few):
        counts = np.append(others, 9 * others.sum())
        drawn = np.array([draw_concentration(counts, (at + 0.5) / 50) for at in range(50)])
        alone = np.array([draw_concentration(np.append(others, 0), (at + 0.5) / 50) for at in range(50)])
        (node, root, *_), (node_alone, root_alone, *_) = np.median(drawn, axis=0), np.median(alone, axis=0)
        assert node_alone / 2 <= node <= node_alone * 2
        assert root > 10 * node
        assert root_alone < node_alone


def test_chains_are_renewed_together_as_alone() -> None:
    """Few cells are worked on in one array for all chains, many in one for each."""
    plan = plan_of(*SIZES["small"])
    states = [start_of(plan, SEED, chain) for chain in range(5)]
    spare = plan.settings["sum_spare"]
    with patch.object(cells_at_nodes, "BLOCK", 2 * plan.problem.nodes * len(plan.problem.column_of)):
        two_at_once = GibbsSteps(plan, SEED, cells=NumpyCells(plan.problem, spare))(states)
    some_at_once = GibbsSteps(plan, SEED, cells=NativeCells(plan.problem, 2, spare))(states)
    for at, (state, one) in enumerate(zip(states, GibbsSteps(plan, SEED)(states), strict=True)):
        assert_equal_states(one, renewed(plan, state, SEED))
        assert_equal_states(one, two_at_once[at])
        assert_equal_states(one, some_at_once[at])
