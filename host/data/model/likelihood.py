"""Log-likelihood of a tree in float64, with best attachments or with all of them.

With best attachments, it is the score of SCITE's chain (Jahn, Kuipers, Beerenwinkel 2016): every cell is
attached to its best node and carries exactly the mutations on the path from the root to it. With all
attachments, each node counts once (SCITE's -s, without a prior), or by the share of the cells that fits the
tree best.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels, absent_logs, log_odds_of
from syclade.host.data.model.paths import blocks_of, counts_on_paths, first_best, value_counts, walk_of
from syclade.host.data.model.rates import MISSING, ObservationModel, Rates, entry_weights, scored_values
from syclade.host.data.trees.tree import depths, preorder, validate_parents
from syclade.host.ground.errors import MatrixError

__all__ = [
    "attachment_posteriors", "base_of", "event_counts", "fitted_shares", "log_likelihood",
    "log_likelihood_at_fitted_shares", "log_likelihood_of_counts", "path_counts", "path_scores",
    "presence", "scores_of_counts", "shared_attachment_posteriors", "shares_of",
    "summed_log_likelihood", "tree_of_matrix",
]  # fmt: skip


def log_likelihood(matrix: Matrix, rates: ObservationModel, parents: ArrayLike) -> float:
    """Return the sum over the cells of their best attachment's log-likelihood, in nats.

    Of calls, it is computed from integer counts. So it does not depend on the order of cells and mutations,
    and trees with equal counts get equal values. Of evidence, it is the sum of the log odds.

    Args:
        matrix: the observed values.
        rates: the error rates, or levels of evidence.
        parents: a parent vector, shape (n_mutations + 1,).

    Raises:
        TreeError: the parent vector is invalid.
        MatrixError: the tree has a different number of mutations, or there are homozygous mutations and no
            rates for them.
    """
    if isinstance(rates, Levels):
        best, _ = _sums(matrix, rates, parents)
        return math.fsum([base_of(matrix, rates), *best.tolist()])
    return log_likelihood_of_counts(event_counts(matrix, rates, parents), rates)


def base_of(matrix: Matrix, rates: ObservationModel) -> float:
    """Return the log-likelihood of cells without mutations, in nats."""
    if isinstance(rates, Levels):
        return math.fsum(absent_logs(log_odds_of(matrix)).sum(axis=0).tolist())
    counts = value_counts(scored_values(matrix, rates), 4)
    return math.fsum((counts * rates.log_table()[:, 0]).tolist())


def tree_of_matrix(matrix: Matrix, parents: ArrayLike) -> NDArray[np.int32]:
    """Return a checked parent vector, int32, shape (n_mutations + 1,).

    Raises:
        TreeError: the parent vector is invalid.
        MatrixError: the tree has a different number of mutations.
    """
    tree = validate_parents(parents)
    if tree.size != matrix.n_mutations + 1:
        raise MatrixError(
            f"the matrix has {matrix.n_mutations} mutations and the tree {tree.size - 1}",
            path=matrix.source,
            hint="give the matrix that the tree is of",
        )
    return tree


def log_likelihood_of_counts(counts: NDArray[np.int64], rates: Rates) -> float:
    """Return the log-likelihood, in nats, of event counts of shape (4, 2)."""
    return math.fsum((counts * rates.log_table()).ravel().tolist())


def event_counts(matrix: Matrix, rates: Rates, parents: ArrayLike) -> NDArray[np.int64]:
    """Count how often each value is observed with and without the mutation in the tree.

    Of the best nodes of a cell, the first in preorder counts. The counts on the path to a node are those of
    its parent plus the node's own row. So nodes are compared by three integers per cell, and nodes with equal
    counts are equal, whatever the order of the path. Homozygous values count as heterozygous ones if the
    rates merge them.

    Arguments and errors are those of `log_likelihood`.

    Returns:
        int64, shape (4, 2): row d, the observed value; column e, 1 if the mutation is on the path from the
        root to the cell's attachment. The entries add up to n_mutations * n_cells.
    """
    tree = tree_of_matrix(matrix, parents)
    values, weights = scored_values(matrix, rates), rates.weights()
    walk, level = walk_of(tree), depths(tree)
    on_path = np.zeros(4, dtype=np.int64)
    for cells in blocks_of(matrix.n_cells, tree.size):
        counts = counts_on_paths(values[:, cells], walk, MISSING)
        _, place = first_best(scores_of_counts(counts, weights))
        seen = np.take_along_axis(counts, place[np.newaxis, np.newaxis], axis=1).sum(
            axis=(1, 2), dtype=np.int64
        )
        on_path[:MISSING] += seen
        on_path[MISSING] += level[walk.order[place]].sum() - seen.sum()
    return np.column_stack([value_counts(values, 4) - on_path, on_path])


def scores_of_counts(counts: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores relative to the root's, in nats.

    Args:
        counts: integers, shape (3, nodes, cells): numbers of observed values on the paths to the nodes.
        weights: float64, shape (4,), as of `Rates.weights`.

    Returns:
        float64, shape (nodes, cells).
    """
    scores: NDArray[np.float64] = np.multiply(counts[0], weights[0], dtype=np.float64)
    term = np.empty_like(scores)
    for one, weight in zip(counts[1:], weights[1:], strict=False):
        scores += np.multiply(one, weight, out=term, dtype=np.float64)
    return scores


def path_counts(values: NDArray[np.uint8], tree: NDArray[np.int32]) -> Iterator[NDArray[np.float64]]:
    """Yield how often each value is on the path to a node, for the nodes in preorder, the root first.

    Args:
        values: uint8, shape (mutations, cells), entries 0 to 3.
        tree: int32, shape (mutations + 1,): a valid parent vector.

    Yields:
        float64, shape (4, cells), row d the value: one array, which changes between two nodes.
    """
    # Counts, not sums of floats: subtracting the nodes that the walk leaves is exact.
    observed = np.arange(4, dtype=np.uint8)[:, np.newaxis]
    counts, path = np.zeros((4, values.shape[1])), [tree.size - 1]
    yield counts
    for node in preorder(tree).tolist()[1:]:
        while path[-1] != tree[node]:
            counts -= values[path.pop()] == observed
        counts += values[node] == observed
        path.append(node)
        yield counts


def path_scores(
    matrix: Matrix, rates: ObservationModel, tree: NDArray[np.int32]
) -> Iterator[NDArray[np.float64]]:
    """Yield the cells' scores at a node relative to the root's, for the nodes in preorder, the root first.

    Args:
        matrix, rates: as for `log_likelihood`.
        tree: int32, shape (n_mutations + 1,): a valid parent vector.

    Yields:
        float64, shape (cells,), in nats; of evidence, sums of the log odds and not of their levels.
    """
    if isinstance(rates, Rates):
        weights = rates.weights()
        for counts in path_counts(scored_values(matrix, rates), tree):
            yield weights @ counts
        return
    log_odds, level = log_odds_of(matrix), depths(tree)
    above = np.zeros((int(level.max()) + 1, matrix.n_cells))  # sums along the path to the node
    for node in preorder(tree).tolist():
        if node != tree.size - 1:
            np.add(above[level[node] - 1], log_odds[node], out=above[level[node]])
        yield above[level[node]]


_NOBODY = 0.01
"""Cells that each node has besides those expected there, so that no share is 0."""

_GAP = 1e-9
"""Most that the log-likelihood at fitted shares is below the maximum, per cell, in nats."""

_BARRIER, _SHRINK, _NEAR_ZERO = 0.1, 0.1, 0.95
"""First weight of the barrier that keeps shares above 0, relative to the cells; its change from round to
round; and the most of its value that a share loses in a step."""

_MOST_STEPS = 200


def summed_log_likelihood(matrix: Matrix, rates: ObservationModel, parents: ArrayLike) -> float:
    """Return the sum over the cells of log Σ_v exp S[c, v], in nats, v over all n + 1 nodes.

    As in SCITE's output, each node counts once, without the prior 1 / (n + 1). Arguments and errors are those
    of `log_likelihood`.

    Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016, marginalisation.
    """
    best, sums = _sums(matrix, rates, parents)
    return math.fsum([base_of(matrix, rates), *best.tolist(), *np.log(sums).tolist()])


def attachment_posteriors(
    matrix: Matrix, rates: ObservationModel, parents: ArrayLike, nodes: NDArray[np.int32]
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
    weights = entry_weights(matrix, rates)
    own = np.zeros(matrix.n_cells)
    above, root = nodes.astype(np.int64), tree.size - 1
    while (below := above != root).any():
        at = np.flatnonzero(below)
        own[at] += weights[above[at], at]
        above[at] = tree[above[at]]
    return np.asarray(np.exp(own - best) / sums)


def _sums(
    matrix: Matrix, rates: ObservationModel, parents: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each cell's best score relative to the root's, and Σ_v exp(score - best): float64, (cells,)."""
    tree = tree_of_matrix(matrix, parents)
    best, sums = np.zeros(matrix.n_cells), np.ones(matrix.n_cells)  # at the root
    for score in itertools.islice(path_scores(matrix, rates, tree), 1, None):
        higher = np.maximum(best, score)
        sums = sums * np.exp(best - higher) + np.exp(score - higher)
        best = higher
    return best, sums


def log_likelihood_at_fitted_shares(matrix: Matrix, rates: ObservationModel, parents: ArrayLike) -> float:
    """Return the highest sum over the cells of log Σ_v π_v exp S[c, v], in nats, over all shares π.

    Arguments and errors are those of `summed_log_likelihood`.
    """
    scores = _scores(matrix, rates, parents)
    return base_of(matrix, rates) + fitted_shares(scores, np.ones(matrix.n_cells))[1]


def shared_attachment_posteriors(
    matrix: Matrix, rates: ObservationModel, parents: ArrayLike, nodes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the probability of each cell's node, given the tree and the shares that fit it best.

    Arguments and result are those of `attachment_posteriors`.
    """
    scores = _scores(matrix, rates, parents)
    shares = fitted_shares(scores, np.ones(matrix.n_cells))[0]
    weighted = shares[:, None] * np.exp(scores - scores.max(axis=0))
    return np.asarray(weighted[nodes, np.arange(matrix.n_cells)] / weighted.sum(axis=0))


def presence(
    weights: NDArray[np.float64], tree: NDArray[np.int32], shares: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability that each cell has each mutation, and the shares that follow from it.

    Args:
        weights: float64, shape (n, cells): what each mutation adds to a cell's log-likelihood.
        tree: int32, shape (n + 1,): a valid parent vector.
        shares: float64, shape (n + 1,): part of the cells at each node; equal by default.

    Returns:
        float64, shape (n, cells); and float64, shape (n + 1,): the shares of the next round of expectation
        and maximisation.
    """
    order, root = preorder(tree).tolist(), len(weights)
    below = np.zeros((root + 1, weights.shape[1]))
    for node in order[1:]:
        np.add(below[tree[node]], weights[node], out=below[node])
    if shares is not None:
        below += np.log(shares)[:, None]
    below = np.exp(below - below.max(axis=0))
    below /= below.sum(axis=0)
    of_nodes = below.sum(axis=1)
    for node in order[:0:-1]:
        below[tree[node]] += below[node]
    return below[:root], shares_of(of_nodes, weights.shape[1])


def shares_of(counts: NDArray[np.float64], cells: float | None = None) -> NDArray[np.float64]:
    """Return the shares that follow from expected numbers of cells: the M step of EM. No share is 0.

    Args:
        counts: float64, shape (nodes,): number of cells at each node.
        cells: their sum, if it is known.
    """
    filled = counts + _NOBODY
    return np.asarray(filled / (filled.sum() if cells is None else cells + len(counts) * _NOBODY))


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


def _scores(matrix: Matrix, rates: ObservationModel, parents: ArrayLike) -> NDArray[np.float64]:
    """Return each cell's score at each node, relative to the root's: float64, shape (nodes, cells)."""
    tree = tree_of_matrix(matrix, parents)
    scores = np.empty((tree.size, matrix.n_cells))
    for node, score in zip(preorder(tree).tolist(), path_scores(matrix, rates, tree), strict=True):
        scores[node] = score
    return scores
