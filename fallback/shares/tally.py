"""Mutations missed and seen in the cells that have them (the mirror of `kernels/shares/gibbs.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["missed_and_seen"]


def missed_and_seen(
    parents: NDArray[np.int32], nodes: NDArray[np.int64], observed: NDArray[np.uint8], nothing: int
) -> NDArray[np.int64]:
    """Return how many cells that have a mutation miss it, and how many show it: int64, shape (n, 2).

    All cells go from their nodes up to the root, a node at a time.

    Args:
        parents: int32, shape (n + 1,): the tree.
        nodes: int64, shape (cells,): the node of each cell.
        observed: uint8, shape (n, cells): classes of the observed values, the odd ones of those that show it.
        nothing: class of no evidence, the last one.
    """
    root = len(parents) - 1
    found = np.zeros((root, 2), dtype=np.int64)
    cells = np.arange(len(nodes))
    while len(cells):
        below = nodes != root
        nodes, cells = nodes[below], cells[below]
        classes = observed[nodes, cells]
        known = classes < nothing
        np.add.at(found, (nodes[known], classes[known] % 2), 1)
        nodes = parents[nodes].astype(np.int64)
    return found
