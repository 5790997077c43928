"""Shares of the cells with doublets: the exact posterior."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.chains.doublet_draws import renew_doublet_shares
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.state import SUMMED_TREES, ChainState
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.doublets import call_doublets
from syclade.host.data.model.pairs import Forest, pair_terms
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.support.of_samples import doublet_shares
from syclade.quality.oracle.trees import all_trees
from tests.chains.doublets.cases import RATE
from tests.suites.rows.doublets import CASES, plan_with_shares
from tests.suites.test_shares import p_value
from tests.support.backends import Backend, Case
from tests.support.dirichlet import log_probabilities
from tests.support.searches import shorten_support

SEED = 5


def starts_of(plan: Plan, chains: int) -> list[ChainState]:
    """Return chains before their first step, with shares that differ between nodes."""
    states = [initial_state(plan, SEED, chain) for chain in range(chains)]
    return renew_doublet_shares(plan, states, SEED)


def test_several_trees_are_walked_together_as_one_by_one() -> None:
    plan = plan_with_shares(CASES["small"])
    states = starts_of(plan, 4)
    for state, together in zip(states, renew_doublet_shares(plan, states, SEED), strict=True):
        (alone,) = renew_doublet_shares(plan, [state], SEED)
        assert (together.rates, together.score) == (alone.rates, alone.score)


# ---- the posterior of a small matrix, by all trees and all attachments


def pair_scores(plan: Plan, tree: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the score of each cell with the mutations above either node, (nodes, nodes, cells)."""
    problem, above = plan.problem, ancestor_matrix(tree)[:-1]
    has = above[:, :, None] | above[:, None, :]
    weights = problem.weight_rows()[:, problem.column_of]
    scores: NDArray[np.int64] = np.einsum("gvw,gc->vwc", has.astype(np.int64), weights)
    return scores


def test_first_nodes_of_doublets_are_weighted_by_all_partners() -> None:
    plan = plan_with_shares(Case(6, 9))
    states = starts_of(plan, 2)
    forest = Forest(np.array([state.parents for state in states], dtype=np.int32))
    unit, column_of = 2.0**-plan.problem.scale_bits, plan.problem.column_of
    logs = np.array([state.rates.log_shares for state in states]) * unit
    terms = pair_terms(forest, forest.of_all(plan.problem.weight_rows() * unit), logs.reshape(-1, 1))
    for tree, state in enumerate(states):
        own = slice(tree * plan.problem.nodes, (tree + 1) * plan.problem.nodes)
        of_pairs = pair_scores(plan, state.parents) * unit
        expected = np.logaddexp2.reduce(of_pairs + logs[tree][None, :, None], axis=1)
        np.testing.assert_allclose((terms.scores + terms.partners)[own][:, column_of], expected, atol=1e-9)


@pytest.mark.parametrize("octaves", [1.0, 20.0, 80.0])
@pytest.mark.parametrize("parents", [[1, 2, 3, 4, 5, 5], [5, 0, 0, 2, 2, 5], [5, 5, 5, 5, 5, 5]])
def test_partners_are_exact_where_one_subtree_has_nearly_all(parents: list[int], octaves: float) -> None:
    """Of cells with sharp values, what a node's subtree adds is all that a float keeps of a difference."""
    tree, random = np.array(parents, dtype=np.int32), np.random.default_rng(1)
    logs = np.log2(random.dirichlet(np.ones(6)))[:, None]
    weights = random.choice([-octaves, octaves], (5, 40))
    forest = Forest(tree[None])
    terms = pair_terms(forest, forest.of_all(weights), logs)
    above = ancestor_matrix(tree)[:-1].astype(np.float64)
    has = np.maximum(above[:, :, None], above[:, None, :])
    pairs = np.einsum("gvw,gc->vwc", has, weights)
    expected = np.logaddexp2.reduce(pairs + logs[None], axis=1)
    np.testing.assert_allclose(terms.scores + terms.partners, expected, rtol=1e-12, atol=1e-10)


@cache
def placed_cells(
    mutations: int, cells: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return all placements of the cells, at nodes and pairs of nodes.

    Returns:
        How many cells each placement has at each node, where doublets count twice, (placements, nodes);
        which cells are doublets, (placements, cells); and log P(D | T, placement), (trees, placements).
    """
    plan, nodes = small_plan(mutations, cells), mutations + 1
    single = [(node, node, 1) for node in range(nodes)]
    kinds = np.array(single + [(v, w, 2) for v, w in itertools.product(range(nodes), repeat=2)])
    places = np.array(list(itertools.product(range(len(kinds)), repeat=cells)))
    at = kinds[places]
    is_pair = at[..., 2] == 2
    counts = np.stack(
        [
            (at[..., 0] == node).sum(axis=1) + ((at[..., 1] == node) & is_pair).sum(axis=1)
            for node in range(nodes)
        ],
        axis=1,
    )
    logs = []
    for tree in all_trees(mutations):
        scores = pair_scores(plan, np.array(tree, dtype=np.int32)) * plan.problem.unit
        logs.append(scores[at[..., 0], at[..., 1], np.arange(cells)].sum(axis=1))
    return counts, is_pair, np.array(logs)


def log_posterior_weights(
    mutations: int, cells: int, rate: float, *, shares: bool = True
) -> NDArray[np.float64]:
    """Return log P(D, T) + constant for all trees: a sum over all nodes, and pairs of nodes, of all cells.

    Given the numbers of cells at the nodes, where doublets count twice, the integral over the shares is the
    Dirichlet-multinomial distribution. Without shares, all nodes are equally probable.
    """
    counts, is_pair, logs = placed_cells(mutations, cells)
    prior = (
        log_probabilities(counts, dominant=True) if shares else -counts.sum(axis=1) * np.log(mutations + 1)
    )
    prior = prior + np.where(is_pair, np.log(rate), np.log1p(-rate)).sum(axis=1)
    weights: NDArray[np.float64] = np.logaddexp.reduce(prior + logs, axis=1)
    return weights


def small_matrix(mutations: int, cells: int) -> Matrix:
    """Return cells of which most have the same few values: unequal shares are probable."""
    values = np.ones((mutations, cells), dtype=np.uint8)
    values[1:, : cells // 2] = 3
    values[0, -1] = 0
    return matrix_from_array(values)


@cache
def small_plan(mutations: int, cells: int) -> Plan:
    problem = make_problem(small_matrix(mutations, cells), Rates(0.05, 0.3), octaves=True)
    return make_plan(
        problem,
        move_probabilities=(0.5, 0.3, 0.2),
        score=score_named("shares", problem, RATE),
        space=SUMMED_TREES,
    )


@cache
def visits(mutations: int, cells: int, chains: int, reads: int) -> NDArray[np.int64]:
    """Return how often independent chains with shares are at each tree."""
    plan = small_plan(mutations, cells)
    number = {tuple(tree): at for at, tree in enumerate(all_trees(mutations))}
    counted = np.zeros(len(number), dtype=np.int64)
    with Backend("native", "general").runner(plan, chains, SEED) as runner:
        runner.put_all(starts_of(plan, chains))
        for read in range(reads):
            runner.advance(np.full(chains, 40 * (read + 1)))
            states = renew_doublet_shares(plan, [state for state, _ in runner.get_all(chains)], SEED)
            runner.put_all(states)
            if read >= reads // 4 and read % 2:
                for state in states:
                    counted[number[tuple(state.parents.tolist())]] += 1
    return counted


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "cells", "chains"),
    [(3, 4, 100), *(pytest.param(*size, 200, marks=pytest.mark.verification) for size in ((2, 5), (3, 4)))],
)
def test_chains_sample_the_posterior_with_shares(mutations: int, cells: int, chains: int) -> None:
    """The visits reject the posteriors of uniformly random nodes, and of fewer doublets."""
    found = visits(mutations, cells, chains, 60)
    assert p_value(log_posterior_weights(mutations, cells, RATE), found) > 0.005
    assert p_value(log_posterior_weights(mutations, cells, RATE, shares=False), found) < 1e-6
    assert p_value(log_posterior_weights(mutations, cells, 0.01), found) < 1e-4


@pytest.mark.statistical
def test_support_is_that_of_all_trees() -> None:
    """The control is the posterior of uniformly random nodes."""
    rate = 0.3
    result = syclade.infer(small_matrix(3, 4), fp_rate=0.05, fn_rate=0.3, doublets=rate, device="native")
    support = result.support
    assert support is not None
    size = support.sampled.tree_ess
    assert size > 400
    is_edge = np.array(list(all_trees(3)))[:, :-1] == result.parents[:-1]

    def agrees(*, shares: bool) -> bool:
        logs = log_posterior_weights(3, 4, rate, shares=shares)
        edges = np.exp(logs - np.logaddexp.reduce(logs)) @ is_edge
        error = 5 * np.sqrt(edges * (1 - edges) / size) + 1e-3
        return bool((np.abs(support.edges - edges) < error).all())

    assert agrees(shares=True)
    assert not agrees(shares=False)


def test_calls_are_of_the_sampled_trees_and_shares() -> None:
    plan = small_plan(3, 4)
    states = starts_of(plan, 2)
    trees = np.array([state.parents for state in states], dtype=np.int32)
    unit = 2.0**-plan.problem.scale_bits
    shares = np.exp2(np.array([state.rates.log_shares for state in states]) * unit)
    expected = np.mean(
        [
            call_doublets(small_matrix(3, 4), Rates(0.05, 0.3), tree, RATE, own).probability
            for tree, own in zip(trees, shares, strict=True)
        ],
        axis=0,
    )
    np.testing.assert_allclose(doublet_shares(plan.problem, trees, shares, RATE), expected, atol=1e-4)


def test_tables_of_a_result_count_doublets(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch)
    result = syclade.infer(small_matrix(3, 12), fp_rate=0.05, fn_rate=0.3, doublets=0.3, device="native")
    assert result.consensus is not None
    assert result.support is not None
    assert result.assignment.doublets is result.support.doublets
    head, *rows = [line.split("\t") for line in result.consensus.to_cells().splitlines()]
    assert head[-3:] == ["doublet", "first", "second"]
    chances = [row[head.index("doublet")] for row in rows]
    doublets, placed = sum(float(one) for one in chances if one), sum(1 for one in chances if one)
    clones = [line.split("\t") for line in result.consensus.to_clones().splitlines()[1:]]
    of_clones = [row for row in clones if row[0] != "unplaced"]
    assert sum(float(row[4]) for row in of_clones) == pytest.approx(placed + doublets, abs=0.02)
    assert sum(float(row[5]) for row in of_clones) == pytest.approx(1, abs=0.01)
