"""Log-likelihood of a tree with best attachments, in float64, from counts of events.

This is the score of SCITE's chain (Jahn, Kuipers, Beerenwinkel 2016): every cell is attached to its best node
and carries exactly the mutations on the path from the root to it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.zygosity import scored_values
from syclade.host.data.trees.tree import depths, preorder, validate_parents
from syclade.host.ground.errors import MatrixError

__all__ = ["event_counts", "log_likelihood", "log_likelihood_of_counts", "tree_of_matrix"]


def log_likelihood(matrix: Matrix, rates: Rates, parents: ArrayLike) -> float:
    """Return the sum over the cells of their best attachment's log-likelihood, in nats.

    It is computed from integer counts. So it does not depend on the order of cells and mutations, and trees
    with equal counts get equal values.

    Args:
        matrix: the observed values.
        rates: the error rates.
        parents: a parent vector, shape (n_mutations + 1,).

    Raises:
        TreeError: the parent vector is invalid.
        MatrixError: the tree has a different number of mutations, or there are homozygous mutations and no
            rates for them.
    """
    return log_likelihood_of_counts(event_counts(matrix, rates, parents), rates)


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

    The nodes are visited in preorder. The counts on the path to a node are those of its parent, which are the
    last ones of the level above, plus the node's own row. So nodes are compared by three integers per cell,
    and nodes with equal counts are equal, whatever the order of the path. Homozygous values count as
    heterozygous ones if the rates merge them.

    Arguments and errors are those of `log_likelihood`.

    Returns:
        int64, shape (4, 2): row d, the observed value; column e, 1 if the mutation is on the path from the
        root to the cell's attachment. The entries add up to n_mutations * n_cells.
    """
    tree = tree_of_matrix(matrix, parents)
    values, weights = scored_values(matrix, rates), rates.weights()
    order, level = preorder(tree), depths(tree)
    counts = np.zeros((int(level.max()) + 1, 4, matrix.n_cells), np.int32)
    observed = np.arange(4, dtype=np.uint8)[:, np.newaxis]
    best_score = np.zeros(matrix.n_cells)
    best_counts = counts[0].copy()
    for node in order[1:].tolist():
        here = counts[level[node]]
        np.add(counts[level[node] - 1], values[node] == observed, out=here)
        score = weights[0] * here[0] + weights[1] * here[1] + weights[2] * here[2]
        better = score > best_score
        best_score[better] = score[better]
        best_counts[:, better] = here[:, better]
    on_path = best_counts.sum(axis=1, dtype=np.int64)
    total = np.bincount(values.ravel(), minlength=4)
    return np.column_stack([total.astype(np.int64) - on_path, on_path])
