"""Walks over many trees at once: the nodes of all of them, depth by depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Level", "depths", "levels_of"]


class Level(NamedTuple):
    """All nodes at one depth, of all trees.

    Attributes:
        trees: int64, shape (nodes,): number of the tree of each node.
        nodes, parents: int64, shape (nodes,): the nodes, and their parents.
    """

    trees: NDArray[np.int64]
    nodes: NDArray[np.int64]
    parents: NDArray[np.int64]


def levels_of(trees: NDArray[np.int32]) -> Iterator[Level]:
    """Yield the nodes at depth 1, at depth 2, and so on; the root, at depth 0, is left out.

    Args:
        trees: int32, shape (trees, n + 1): valid parent vectors.
    """
    n = trees.shape[1] - 1
    depth = depths(trees)
    order = np.argsort(depth.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(depth.ravel()))
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        of, nodes = np.divmod(order[start:end], n)
        yield Level(of, nodes, trees[of, nodes].astype(np.int64))


def depths(trees: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of edges from the root to each other node: int64, shape (trees, n).

    Args:
        trees: int32, shape (trees, n + 1): valid parent vectors.
    """
    n = trees.shape[1] - 1
    above = trees.astype(np.int64)
    above[:, n] = n
    found = (above != n).astype(np.int64)
    while (above != n).any():  # each turn doubles the length of the jumps
        found += np.take_along_axis(found, above, axis=1)
        above = np.take_along_axis(above, above, axis=1)
    return np.asarray(found[:, :n] + 1, dtype=np.int64)
