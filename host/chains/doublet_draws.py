"""Gibbs steps of shares with doublets, between launches.

A cell is a single cell of node v with probability (1 - d) pi_v, and a doublet of the nodes v and w with
probability d pi_v pi_w. A step draws whether each cell is a doublet, and its nodes, given the tree and pi;
then pi and its concentrations given the numbers of cells at the nodes, where a doublet counts at both of its
nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.sums.numbers import MANTISSA_BITS
from syclade.host.chains.cells_at_nodes import cells_by_column
from syclade.host.chains.plan import Plan
from syclade.host.chains.points import Standing
from syclade.host.chains.scores.doublets import BLOCK, scores_of_trees
from syclade.host.chains.scores.score import blocks_of_columns
from syclade.host.chains.shares import UniformNumbers, draw_shares, generator_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.pairs import Forest, draw_counts, kinds_of
from syclade.host.data.model.problem import Problem

__all__ = ["renew_doublet_shares"]


def renew_doublet_shares(plan: Plan, states: Sequence[ChainState], seed: int) -> list[ChainState]:
    """Return the states of several chains after a Gibbs step of the shares of each.

    Args:
        plan: the plan, whose score is that with doublets and shares.
        states: states with shares.
        seed: seed of the run.
    """
    problem, rate = plan.problem, _rate_of(plan)
    generators = [generator_of(state, seed) for state in states]
    numbers = UniformNumbers(generators, 2 * (len(problem.column_of) + problem.nodes) + 1)
    standing = Standing(states)
    forest = Forest(standing.points.parents)
    log_shares = standing.points.log_shares.astype(np.int64)
    counts = _doublet_counts(problem, forest, log_shares, rate, numbers)
    drawn = draw_shares(problem, counts, numbers)
    scores = scores_of_trees(problem, forest, drawn.astype(np.int64), plan.settings)
    standing.move(standing.points._replace(log_shares=drawn), scores)
    return standing.states()


def _rate_of(plan: Plan) -> float:
    """Return the rate of doublets of the score."""
    settings = plan.settings
    return float(settings["pair_share"] * 2.0 ** (settings["pair_exponent"] - MANTISSA_BITS))


def _doublet_counts(
    problem: Problem,
    forest: Forest,
    log_shares: NDArray[np.int64],
    rate: float,
    numbers: UniformNumbers,
) -> NDArray[np.int64]:
    """Return the numbers of cells at the nodes, (trees, nodes), after a draw of each cell's node or nodes."""
    column_of = cells_by_column(problem)
    cells, nodes = len(column_of), problem.nodes
    uniform = numbers.take(2 * cells).reshape(-1, 2, cells)
    unit = 2.0**-problem.scale_bits
    weights = problem.weight_rows() * unit
    shares = log_shares.reshape(-1, 1) * unit
    counts = np.zeros((forest.trees, nodes), dtype=np.int64)
    for block in blocks_of_columns(problem, problem.nodes * forest.trees, BLOCK):
        first, last = np.searchsorted(column_of, (block.start, block.stop))
        columns = column_of[first:last] - block.start
        kinds = kinds_of(forest, forest.of_all(weights[:, block]), shares, rate)
        for tree, own in enumerate(uniform):
            counts[tree] += draw_counts(forest, tree, kinds, columns, own[:, first:last])
    return counts
