"""Gibbs steps of the rates of false negatives of all mutations (docs/model.md, "Dropout of each mutation").

Given the tree and the node of each cell, the cells with a mutation are known, and so are the numbers in which
it was missed and seen. These give the point of the common Beta, and then the rate of each group of mutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import cells_by_column
from syclade.host.chains.plan import Plan
from syclade.host.chains.share_draws import log2_gamma, uniform_numbers
from syclade.host.chains.shares import Draw, sampled_nodes
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import beta_posteriors, slot_rates
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.trees.tree import levels_of

__all__ = ["make_draw", "sampled_counts", "with_rates"]

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
