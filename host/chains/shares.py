"""Shares of the cells at each node, as a part of a chain's state (docs/model.md, "Shares").

P(a cell is at node v) = pi_v, and pi has a symmetric Dirichlet prior. Between launches, a Gibbs step draws
the node of each cell given the tree and pi, then the concentration given the numbers of cells at the nodes,
then pi. All draws are by numpy's counter-based generator, from the seed, the chain and its step. Logs of
shares are rounded to the integers of the score. So a chain is the same on every device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.scores.all_attachments import BLOCK, node_scores, totals_of
from syclade.host.chains.share_draws import (
    LOWEST_OCTAVE,
    draw_concentrations,
    draw_shares_at,
    generator_of,
    uniform_numbers,
)
from syclade.host.chains.state import ChainState
from syclade.host.data.model.likelihood import fitted_shares
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = [
    "Draw",
    "cells_at_nodes",
    "cells_by_column",
    "check_shares",
    "highest_score",
    "renew_all_shares",
    "renewal_steps",
    "rescored",
    "sampled_nodes",
    "uniform_log_shares",
]

_CELLS = 2**10
"""Cells that are worked on at once, at least."""

_LONG_ROW = 96
"""Cells from which rows are added one by one."""

_MOST_SCORES = 2**18
"""Scores, of cells at nodes, in all draws of a Gibbs step, unless the fewest draws have more."""

_FEWEST_SWEEPS, _MOST_SWEEPS = 3, 8
"""Draws of nodes and shares in a Gibbs step. Many cells at few nodes hold the shares fast, so that one draw
changes them little, while the tree seldom changes."""

_LEAST_RENEWAL, _MOST_RENEWAL = 512, 16384
"""Limits of `renewal_steps`."""


def uniform_log_shares(problem: Problem) -> tuple[int, ...]:
    """Return equal shares of all nodes."""
    return (round(-math.log2(problem.nodes) * 2**problem.scale_bits),) * problem.nodes


def renewal_steps(problem: Problem) -> int:
    """Return the steps of a user's chain between two Gibbs steps, which grow with the tree.

    They depend on the problem alone, so that a chain is the same in any number of slots, and after a resume.
    """
    return max(_LEAST_RENEWAL, min(problem.nodes**2, _MOST_RENEWAL))


def check_shares(problem: Problem, log_shares: Sequence[int]) -> None:
    """Check shares that come from a file.

    Raises:
        ValueError: they are not the shares of all nodes, with the sum 1.
    """
    logs = np.array(log_shares, dtype=np.int64)
    inside = (
        len(logs) == problem.nodes and ((logs <= 0) & (logs >= LOWEST_OCTAVE << problem.scale_bits)).all()
    )
    unit = 2.0**-problem.scale_bits  # logarithms are rounded to it
    if not inside or abs(float(np.exp2(logs * unit).sum()) - 1.0) > unit:
        raise ValueError("the shares of the nodes do not add up to 1")


class Draw(Protocol):
    """Draw of a chain's weights: (state, nodes of the cells in the order of `cells_by_column`, generator)."""

    def __call__(
        self, state: ChainState, nodes: NDArray[np.int64], generator: np.random.Philox
    ) -> tuple[int, ...]:
        """Return the weights of the classes of observed values."""
        ...


def renew_all_shares(
    plan: Plan, states: Sequence[ChainState], seed: int, draw: Draw | None = None
) -> list[ChainState]:
    """Return the states of a plan's chains after a Gibbs step of the shares of each.

    The best tree remains the one with the highest score so far, at the shares of its time: scores are
    likelihoods, of trees and shares.

    Args:
        plan: the plan, whose score is that with shares.
        states: states with shares.
        seed: seed of the run.
        draw: draws weights, too, given the nodes of the cells; None for weights that stay.
    """
    problem = plan.problem
    at_once = max(1, BLOCK // (problem.nodes * len(problem.column_of)))
    groups = [states[at : at + at_once] for at in range(0, len(states), at_once)]
    return [state for group in groups for state in _renewed(plan, group, seed, draw)]


def _renewed(plan: Plan, states: Sequence[ChainState], seed: int, draw: Draw | None) -> list[ChainState]:
    """Return several states after a Gibbs step: together, since numpy is slow on few numbers."""
    problem = plan.problem
    generators = [generator_of(state, seed) for state in states]
    rates = [state.rates for state in states]
    scores = _scores_of_trees(problem, states, rates)
    log_shares = _log_shares_of(states)
    cells = _likelihoods_of_cells(problem, scores)
    concentrations = None
    for _ in range(_sweeps(problem)):
        counts = cells_at_nodes(cells, _shares_of(problem, log_shares), generators)
        if concentrations is None:
            concentrations = draw_concentrations(counts, generators)
        log_shares = draw_shares_at(problem, counts, concentrations, generators)
    if draw is not None:
        nodes = _nodes(cells, _shares_of(problem, log_shares), generators)
        drawn = [draw(*one) for one in zip(states, nodes, generators, strict=True)]
        rates = [replace(one, weights=weights) for one, weights in zip(rates, drawn, strict=True)]
        scores = _scores_of_trees(problem, states, rates)
    totals = totals_of(problem, scores, log_shares, plan.settings["sum_spare"])
    return [
        rescored(state, total, replace(of_state, log_shares=tuple(shares)))
        for state, total, of_state, shares in zip(states, totals, rates, log_shares.tolist(), strict=True)
    ]


def _scores_of_trees(
    problem: Problem, states: Sequence[ChainState], rates: Sequence[SlotRates]
) -> NDArray[np.int32]:
    """Return the scores of all columns at all nodes of each state's tree: int32, (nodes, states, columns)."""
    if len(states) == 1:
        return node_scores(problem, states[0].parents, rates[0])[:, None]
    scores = [node_scores(problem, *one) for one in zip((one.parents for one in states), rates, strict=True)]
    return np.stack(scores, axis=1)


def _log_shares_of(states: Sequence[ChainState]) -> NDArray[np.int32]:
    return np.array([state.rates.log_shares for state in states], dtype=np.int32)


def _shares_of(problem: Problem, log_shares: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.asarray(np.exp2(log_shares * 2.0**-problem.scale_bits))


def rescored(state: ChainState, score: int, rates: SlotRates) -> ChainState:
    """Return a state with other rates and shares, and the score of its tree under these."""
    now = replace(state, score=score, rates=rates)
    is_best = score > state.best_score
    return replace(now, best_parents=state.parents, best_score=score) if is_best else now


def _sweeps(problem: Problem) -> int:
    """Return the number of draws in a Gibbs step: about the number of cells of a node."""
    cells = len(problem.column_of)
    most = min(_MOST_SWEEPS, _MOST_SCORES // (problem.nodes * cells))
    return max(_FEWEST_SWEEPS, min(cells // problem.nodes, most))


def highest_score(problem: Problem, parents: NDArray[np.int32]) -> int:
    """Return an upper bound of the score of a tree over all shares, with room for its rounding."""
    scores = node_scores(problem, parents) * problem.unit
    found = fitted_shares(scores, problem.multiplicity.astype(np.float64))[1]
    return math.ceil(found / problem.unit) + 4 * int(problem.multiplicity.sum())


def sampled_nodes(problem: Problem, state: ChainState, seed: int) -> NDArray[np.int64]:
    """Draw the node of each cell of a state, in the order of `cells_by_column`: int64, (cells,)."""
    cells = _likelihoods_of_cells(problem, _scores_of_trees(problem, [state], [state.rates]))
    shares = _shares_of(problem, _log_shares_of([state]))
    return np.asarray(_nodes(cells, shares, [generator_of(state, seed, 1)])[0])


def cells_by_column(problem: Problem) -> NDArray[np.int32]:
    """Return the distinct column of every cell, sorted: cells with equal columns may change places."""
    return np.repeat(np.arange(problem.columns, dtype=np.int32), problem.multiplicity)


def _likelihoods_of_cells(problem: Problem, scores: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
    """Return the likelihood of each cell at each node relative to its best node, in blocks of cells.

    Args:
        scores: int32, shape (nodes, trees, columns).

    Returns:
        float64, shape (nodes, trees, cells of the block): as many as stay in a fast cache.
    """
    column_of, step = cells_by_column(problem), max(_CELLS, BLOCK // problem.nodes)
    of_columns = np.exp2((scores - scores.max(axis=0)) * 2.0**-problem.scale_bits)
    # Not of_columns[:, :, ...], whose rows would not be contiguous.
    return tuple(of_columns.take(column_of[at : at + step], axis=2) for at in range(0, len(column_of), step))


def cells_at_nodes(
    cells: tuple[NDArray[np.float64], ...],
    shares: NDArray[np.float64],
    generators: Sequence[np.random.Philox],
) -> NDArray[np.int64]:
    """Return the number of cells at each node, (trees, nodes), after a draw of each cell's node.

    Args:
        cells: likelihood of each cell at each node relative to its best node, float64, (nodes, trees, cells),
            in blocks of cells.
        shares: float64, shape (trees, nodes).
        generators: source of the draws of each tree.
    """
    trees, nodes = shares.shape
    beyond = np.zeros((nodes + 1, trees), dtype=np.int64)
    beyond[0] = sum(likelihoods.shape[2] for likelihoods in cells)
    for passed in _passed(cells, shares, generators):
        beyond[1:-1] += _true_along(passed, 2)
    return np.ascontiguousarray((beyond[:-1] - beyond[1:]).T)


def _nodes(
    cells: tuple[NDArray[np.float64], ...],
    shares: NDArray[np.float64],
    generators: Sequence[np.random.Philox],
) -> NDArray[np.int64]:
    """Draw the node of each cell, int64, (trees, cells); arguments as for `cells_at_nodes`."""
    found = [_true_along(passed, 0) for passed in _passed(cells, shares, generators)]
    return np.asarray(np.concatenate(found, axis=1), dtype=np.int64)


def _passed(
    cells: tuple[NDArray[np.float64], ...],
    shares: NDArray[np.float64],
    generators: Sequence[np.random.Philox],
) -> Iterator[NDArray[np.bool_]]:
    """Draw the node of each cell, and yield for each block the nodes before it: (nodes - 1, trees, cells)."""
    for likelihoods in cells:
        ends = _sums_over_nodes(likelihoods * shares.T[:, :, None])
        numbers = [uniform_numbers(generator, likelihoods.shape[2]) for generator in generators]
        yield ends[:-1] <= np.stack(numbers) * ends[-1]


def _true_along(passed: NDArray[np.bool_], axis: int) -> NDArray[np.int64]:
    """Return how many are true, in a third of the time of `count_nonzero`."""
    narrow = np.uint16 if passed.shape[axis] < 2**16 else np.uint32
    return np.asarray(passed.view(np.uint8).sum(axis=axis, dtype=narrow), dtype=np.int64)


def _sums_over_nodes(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative sums over the nodes, (nodes, trees, cells), in place of the terms."""
    if terms[0].size < _LONG_ROW:
        return terms.cumsum(axis=0)
    for before, here in pairwise(terms.reshape(len(terms), -1)):  # cumsum takes five times as long
        here += before
    return terms
