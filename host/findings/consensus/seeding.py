"""Probability that a mutation seeds a given group of cells: these cells have it, and no others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import mutation_weights
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.zygosity import scored_values
from syclade.host.data.trees.tree import preorder

__all__ = ["seeding_probabilities"]


def seeding_probabilities(
    trees: Iterable[NDArray[np.int32]],
    matrix: Matrix,
    rates: Rates,
    inside: NDArray[np.bool_],
    fn_rates: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return for each mutation the probability that exactly some cells have it, as a mean over trees.

    Given a tree, cells are independent of each other, and each is at a node with the probability of the sum
    score, with a uniform prior over all nodes. The partition function of Trisicell and scphylo-tools asks the
    same of binary cell trees, whose prior is another, so that its values differ.

    Args:
        trees: sampled mutation trees, int32, shape (n + 1,) each; at least one.
        matrix: the observed values.
        rates: the error rates.
        inside: bool, shape (cells,): the cells of the group.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.

    Returns:
        float64, shape (n,).
    """
    values = scored_values(matrix, rates)
    gains = rates.weights()[values] if fn_rates is None else mutation_weights(values, rates.fp_rate, fn_rates)
    total, count = np.zeros(len(gains)), 0
    for tree in trees:
        below = _shares_below(tree, gains)
        total += np.prod(np.where(inside, below, np.maximum(1.0 - below, 0.0)), axis=1)
        count += 1
    return np.asarray(total / count)


def _shares_below(tree: NDArray[np.int32], gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each cell to be at or below each mutation: float64, shape (n, cells).

    Args:
        tree: int32, shape (n + 1,).
        gains: float64, shape (n, cells): log-likelihood that a cell gains by each mutation.
    """
    order, root = preorder(tree).tolist(), len(gains)
    scores = np.zeros((root + 1, gains.shape[1]))
    for node in order[1:]:
        np.add(scores[tree[node]], gains[node], out=scores[node])
    shares = np.exp(scores - scores.max(axis=0))
    shares /= shares.sum(axis=0)
    for node in order[:0:-1]:
        shares[tree[node]] += shares[node]
    return np.asarray(shares[:root])
