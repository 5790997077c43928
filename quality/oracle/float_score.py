"""Log-likelihood of a tree in float64, by loops over every cell and node: slow and obviously correct."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.quality.oracle.trees import path_to_root

__all__ = ["cell_log_likelihood", "log_likelihood"]


def cell_log_likelihood(parents: Sequence[int], node: int, column: Sequence[int], table: ArrayLike) -> float:
    """Return log P(a cell's values | it is attached to this node), in nats.

    `column`: the cell's n observed values; `table`: shape (4, 2), log P(observed d | true e).
    """
    logs = np.asarray(table).tolist()
    carried = path_to_root(parents, node)
    return float(sum(logs[d][1 if mutation in carried else 0] for mutation, d in enumerate(column)))


def log_likelihood(matrix: NDArray[np.integer[Any]], table: ArrayLike, parents: ArrayLike) -> float:
    """Return the sum over the cells of the log-likelihood at the best node, in nats (max score of SCITE).

    `matrix`: observed values, shape (n, m); `parents`: shape (n + 1,).
    """
    tree = np.asarray(parents).tolist()
    total = 0.0
    for column in matrix.T.tolist():
        total += max(cell_log_likelihood(tree, node, column, table) for node in range(len(tree)))
    return total
