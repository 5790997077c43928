"""Log-likelihood of a tree with marginalised attachments, in float64.

Each node counts once (SCITE's -s, without a prior), or by the share of the cells that fits the tree best.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.likelihood import tree_of_matrix
from syclade.host.data.model.path_counts import path_counts
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.zygosity import scored_values
from syclade.host.data.trees.tree import preorder, validate_parents

__all__ = [
    "attachment_posteriors",
    "fitted_shares",
    "log_likelihood_at_fitted_shares",
    "shared_attachment_posteriors",
    "summed_log_likelihood",
]

_GAP = 1e-9
"""Most that the log-likelihood at fitted shares is below the maximum, per cell, in nats."""

_BARRIER, _SHRINK, _NEAR_ZERO = 0.1, 0.1, 0.95
"""First weight of the barrier that keeps shares above 0, relative to the cells; its change from round to
round; and the most of its value that a share loses in a step."""

_MOST_STEPS = 200


def summed_log_likelihood(matrix: Matrix, rates: Rates, parents: ArrayLike) -> float:
    """Return the sum over the cells of log Σ_v exp S[c, v], in nats, v over all n + 1 nodes.

    As in SCITE's output, each node counts once, without the prior 1 / (n + 1).

    Args:
        matrix: the observed values.
        rates: the error rates.
        parents: a parent vector, shape (n_mutations + 1,).

    Raises:
        TreeError: the parent vector is invalid.
        MatrixError: the tree has a different number of mutations, or there are homozygous mutations and no
            rates for them.

    Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016, marginalisation.
    """
    values = scored_values(matrix, rates)
    base = math.fsum((np.bincount(values.ravel(), minlength=4) * rates.log_table()[:, 0]).tolist())
    best, sums = _sums(matrix, rates, parents)
    return math.fsum([base, *best.tolist(), *np.log(sums).tolist()])


def attachment_posteriors(
    matrix: Matrix, rates: Rates, parents: ArrayLike, nodes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the probability of each cell's node, given the tree and a uniform prior over its nodes.

    Args:
        matrix, rates, parents: as for `summed_log_likelihood`.
        nodes: int32, shape (cells,): the node of each cell.

    Returns:
        float64, shape (cells,).
    """
    best, sums = _sums(matrix, rates, parents)
    tree = validate_parents(parents)
    weights = rates.weights()
    values = scored_values(matrix, rates)
    own = np.zeros(matrix.n_cells)
    above, root = nodes.astype(np.int64), tree.size - 1
    while (below := above != root).any():
        at = np.flatnonzero(below)
        own[at] += weights[values[above[at], at]]
        above[at] = tree[above[at]]
    return np.asarray(np.exp(own - best) / sums)


def _sums(
    matrix: Matrix, rates: Rates, parents: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each cell's best score relative to the root's, and Σ_v exp(score - best): float64, (cells,)."""
    tree = tree_of_matrix(matrix, parents)
    values, weights = scored_values(matrix, rates), rates.weights()
    best, sums = np.zeros(matrix.n_cells), np.ones(matrix.n_cells)  # at the root
    for counts in itertools.islice(path_counts(values, tree), 1, None):
        score = weights @ counts
        higher = np.maximum(best, score)
        sums = sums * np.exp(best - higher) + np.exp(score - higher)
        best = higher
    return best, sums


def log_likelihood_at_fitted_shares(matrix: Matrix, rates: Rates, parents: ArrayLike) -> float:
    """Return the highest sum over the cells of log Σ_v π_v exp S[c, v], in nats, over all shares π.

    Arguments and errors are those of `summed_log_likelihood`.
    """
    values = scored_values(matrix, rates)
    base = math.fsum((np.bincount(values.ravel(), minlength=4) * rates.log_table()[:, 0]).tolist())
    scores = _scores(matrix, rates, parents)
    return base + fitted_shares(scores, np.ones(matrix.n_cells))[1]


def shared_attachment_posteriors(
    matrix: Matrix, rates: Rates, parents: ArrayLike, nodes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the probability of each cell's node, given the tree and the shares that fit it best.

    Arguments and result are those of `attachment_posteriors`.
    """
    scores = _scores(matrix, rates, parents)
    worth = fitted_shares(scores, np.ones(matrix.n_cells))[0][:, None] * np.exp(scores - scores.max(axis=0))
    return np.asarray(worth[nodes, np.arange(matrix.n_cells)] / worth.sum(axis=0))


def fitted_shares(
    scores: NDArray[np.float64], cells: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the shares of the nodes that make the columns most likely, and the maximum.

    The problem is convex. Expectation and maximisation would need thousands of rounds where shares go to 0;
    an interior-point method needs some tens of steps of Newton's method.

    Args:
        scores: float64, shape (nodes, columns), in nats.
        cells: float64, shape (columns,): number of cells of each column.

    Returns:
        float64, shape (nodes,), above 0, with the sum 1; and the sum over cells of log Σ_v π_v exp(score).

    Source: Boyd, Vandenberghe, "Convex optimization", 2004, section 11.3.
    """
    nodes, total = len(scores), float(cells.sum())
    best = scores.max(axis=0)
    likely = np.exp(scores - best)
    shares = np.full(nodes, 1.0 / nodes)
    barrier = _BARRIER * total / nodes
    for _ in range(_MOST_STEPS):
        # Minimise -Σ cells log(shares @ likely) + total Σ shares - barrier Σ log shares. Without the barrier,
        # the sum of the best shares is 1; with it, the gap to the maximum is nodes * barrier.
        ratio = likely / (shares @ likely)
        slope = total - ratio @ cells - barrier / shares
        curve = (ratio * cells) @ ratio.T + np.diag(barrier / shares**2)
        step = np.linalg.solve(curve, -slope)
        falling = step < 0
        longest = _NEAR_ZERO * float(np.min(-shares[falling] / step[falling], initial=np.inf))
        shares = shares + min(1.0, longest) * step
        settled = float(-slope @ step) < barrier  # Newton's decrement: near the centre for this barrier
        if settled and nodes * barrier <= _GAP * total:
            break
        barrier *= _SHRINK if settled else 1.0
    shares /= shares.sum()
    return shares, math.fsum((cells * (best + np.log(shares @ likely))).tolist())


def _scores(matrix: Matrix, rates: Rates, parents: ArrayLike) -> NDArray[np.float64]:
    """Return each cell's score at each node, relative to the root's: float64, shape (nodes, cells)."""
    tree = tree_of_matrix(matrix, parents)
    values, weights = scored_values(matrix, rates), rates.weights()
    scores = np.empty((tree.size, matrix.n_cells))
    for node, counts in zip(preorder(tree).tolist(), path_counts(values, tree), strict=True):
        scores[node] = weights @ counts
    return scores
