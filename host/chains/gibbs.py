"""Gibbs steps between launches, besides those of shares: rates of mutations, and shares with doublets.

Rates of false negatives of all mutations (docs/model.md, "Dropout of each mutation"): given the
tree and the node of each cell, the cells with a mutation are known, and so are the numbers in which it was
missed and seen. These give the point of the common Beta, and then the rate of each group of mutations.

Shares with doublets (docs/model.md, "Shares"): a cell is a single cell of node v with probability
(1 - d) pi_v, and a doublet of the nodes v and w with probability d pi_v pi_w. A step draws whether each cell
is a doublet, and its nodes, given the tree and pi; then pi and its concentrations given the numbers of cells
at the nodes, where a doublet counts at both of its nodes. All is as in `shares`, which draws pi, for several
chains together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.sums.numbers import MANTISSA_BITS
from syclade.host.chains.cells_at_nodes import cells_by_column
from syclade.host.chains.plan import Plan
from syclade.host.chains.scores.doublets import BLOCK, scores_of_trees
from syclade.host.chains.scores.score import blocks_of_columns
from syclade.host.chains.share_draws import draw_shares, generator_of, log2_gamma, uniform_numbers
from syclade.host.chains.shares import Draw, rescored, sampled_nodes
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import beta_posteriors, slot_rates
from syclade.host.data.model.pairs import Forest, draw_counts, kinds_of
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.trees.tree import levels_of

__all__ = [
    "make_draw",
    "renew_doublet_shares",
    "sampled_counts",
    "with_rates",
]


_MISSED, _SEEN = 0, 1
_DRAWS = 32
"""States whose cells are drawn to count what was missed."""


def with_rates(plan: Plan, state: ChainState, rates: SlotRates) -> ChainState:
    """Return a state before its first step with other rates and the same shares."""
    rates = replace(rates, log_shares=state.rates.log_shares)
    score = plan.score_of(state.parents, rates)
    return replace(state, score=score, best_score=score, rates=rates)


def make_draw(problem: Problem, fp_rate: float, groups: NDArray[np.int64]) -> Draw:
    """Return the draw of rates.

    Args:
        problem: of the groups (`problem_of_groups`).
        fp_rate: rate of false positives.
        groups: int64, shape (n,): group of each mutation.
    """
    by_value = _cells_by_value(problem)
    count = int(groups.max()) + 1

    def draw(state: ChainState, nodes: NDArray[np.int64], generator: np.random.Philox) -> tuple[int, ...]:
        """Draw the rate of each group, from how often cells at these nodes miss its mutations."""
        missed, seen = (
            np.bincount(groups, weights=counts, minlength=count).astype(np.float64)
            for counts in _counts(by_value, state.parents, nodes)
        )
        uniform = uniform_numbers(generator, 1 + 4 * count)
        shapes = beta_posteriors(missed, seen, float(uniform[0]))
        first, second, third, fourth = uniform[1:].reshape(4, count)
        lost = log2_gamma(shapes[0], first, second) - log2_gamma(shapes[1], third, fourth)
        return slot_rates(problem, fp_rate, 1.0 / (1.0 + np.exp2(np.clip(-lost, -100.0, 100.0)))).weights

    return draw


def sampled_counts(
    problem: Problem, states: Sequence[ChainState], seed: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return how often each mutation was missed and seen, float64, (n,), in draws of cells of some states.

    Args:
        problem: with one rate, or of groups.
        states: states with shares, at least one.
        seed: seed of the run.
    """
    by_value = _cells_by_value(problem)
    some = [states[at] for at in np.unique(np.linspace(0, len(states) - 1, _DRAWS).round().astype(int))]
    return [_counts(by_value, state.parents, sampled_nodes(problem, state, seed)) for state in some]


def _cells_by_value(problem: Problem) -> NDArray[np.bool_]:
    """Return whether each cell, in the order of `cells_by_column`, misses each mutation, or shows it.

    Returns:
        bool, shape (2, cells, n).
    """
    own = problem.observed[:, cells_by_column(problem)].T
    known = own < problem.classes - 1
    return np.stack([known & (own % 2 == value) for value in (_MISSED, _SEEN)])


def _counts(
    by_value: NDArray[np.bool_], parents: NDArray[np.int32], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each mutation was missed and seen in the cells that have it: float64, (n,) each."""
    count = len(parents)
    order = np.argsort(nodes, kind="stable")
    there, first = np.unique(nodes[order], return_index=True)
    below = np.zeros((2, count, count - 1))
    below[:, there] = np.add.reduceat(by_value[:, order], first, axis=1, dtype=np.float64)
    for level in reversed(list(levels_of(parents[None]))):
        for of_value in below:
            np.add.at(of_value, level.parents, of_value[level.nodes])
    own = np.arange(count - 1)
    return below[_MISSED, own, own], below[_SEEN, own, own]


def renew_doublet_shares(plan: Plan, states: Sequence[ChainState], seed: int) -> list[ChainState]:
    """Return the states of several chains after a Gibbs step of the shares of each.

    Args:
        plan: the plan, whose score is that with doublets and shares.
        states: states with shares.
        seed: seed of the run.
    """
    problem, rate = plan.problem, _rate_of(plan)
    generators = [generator_of(state, seed) for state in states]
    forest = Forest(np.array([state.parents for state in states], dtype=np.int32))
    log_shares = _log_shares_of(states)
    counts = _doublet_counts(problem, forest, log_shares, rate, generators)
    drawn = draw_shares(problem, counts, generators)
    scores = scores_of_trees(problem, forest, drawn.astype(np.int64), plan.settings).tolist()
    return [
        rescored(state, score, replace(state.rates, log_shares=tuple(shares)))
        for state, score, shares in zip(states, scores, drawn.tolist(), strict=True)
    ]


def _rate_of(plan: Plan) -> float:
    """Return the rate of doublets of the score."""
    settings = plan.settings
    return float(settings["pair_share"] * 2.0 ** (settings["pair_exponent"] - MANTISSA_BITS))


def _log_shares_of(states: Sequence[ChainState]) -> NDArray[np.int64]:
    return np.array([state.rates.log_shares for state in states], dtype=np.int64)


def _doublet_counts(
    problem: Problem,
    forest: Forest,
    log_shares: NDArray[np.int64],
    rate: float,
    generators: Sequence[np.random.Philox],
) -> NDArray[np.int64]:
    """Return the numbers of cells at the nodes, (trees, nodes), after a draw of each cell's node or nodes."""
    column_of = cells_by_column(problem)
    cells, nodes = len(column_of), problem.nodes
    uniform = [uniform_numbers(generator, 2 * cells).reshape(2, cells) for generator in generators]
    unit = 2.0**-problem.scale_bits
    weights = problem.weight_rows() * unit
    shares = log_shares.reshape(-1, 1) * unit
    counts = np.zeros((forest.trees, nodes), dtype=np.int64)
    for block in blocks_of_columns(problem, problem.nodes * forest.trees, BLOCK):
        first, last = np.searchsorted(column_of, (block.start, block.stop))
        columns = column_of[first:last] - block.start
        kinds = kinds_of(forest, forest.of_all(weights[:, block]), shares, rate)
        for tree, numbers in enumerate(uniform):
            counts[tree] += draw_counts(forest, tree, kinds, columns, numbers[:, first:last])
    return counts
