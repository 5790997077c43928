"""Placement of mutations: the best edge of a cell tree for every mutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.leaf_problem import LeafProblem
from syclade.host.data.model.likelihood import log_likelihood_of_counts
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.zygosity import scored_values
from syclade.host.data.trees.leaf import clades, sums_below
from syclade.host.data.trees.tree import preorder

__all__ = ["place"]


def place(
    matrix: Matrix, rates: Rates, problem: LeafProblem, parents: NDArray[np.int32]
) -> tuple[Assignment, float]:
    """Place every mutation on its best edge.

    Edges are compared by the chain's integer scores, so ties are exact and the same on every device.

    Args:
        matrix, rates: the input that the problem was made of.
        problem: the problem with n mutations and m cells.
        parents: a valid cell tree, int32, shape (2m - 1,).

    Returns:
        The edge of every mutation, and the log-likelihood of the tree over all mutations: natural log, from
        counts of events.
    """
    order = preorder(parents)
    sums = sums_below(parents, problem.cell_rows())[order]
    node = order[sums.argmax(axis=0)]
    ties = (sums == sums.max(axis=0)).sum(axis=0)
    values, present = scored_values(matrix, rates), clades(parents)[node]
    counts = np.array(
        [[((values == value) & (present == has)).sum(axis=1) for has in (False, True)] for value in range(4)]
    )
    each = (counts * rates.log_table()[:, :, np.newaxis]).sum(axis=(0, 1))
    total = log_likelihood_of_counts(counts.sum(axis=2), rates)
    return Assignment(node.astype(np.int32), ties.astype(np.int32), each), total
