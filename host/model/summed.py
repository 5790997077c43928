"""Log-likelihood of a tree with marginalised attachments, in float64 (SCITE's -s, without a prior)."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.input.matrix import Matrix
from syclade.host.model.likelihood import tree_of_matrix
from syclade.host.model.path_counts import path_counts
from syclade.host.model.rates import Rates
from syclade.host.model.zygosity import scored_values
from syclade.host.trees.tree import validate_parents

__all__ = ["attachment_posteriors", "summed_log_likelihood"]


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
