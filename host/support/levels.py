"""Walks over many trees at once: the nodes of all of them, depth by depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Level", "levels_of"]


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
    depth = np.ones((len(trees), n), dtype=np.int64)
    above = trees[:, :n].astype(np.int64)
    while (inner := above < n).any():
        depth += inner
        above = np.take_along_axis(trees, above, axis=1).astype(np.int64)
    order = np.argsort(depth.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(depth.ravel()))
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        of, nodes = np.divmod(order[start:end], n)
        yield Level(of, nodes, trees[of, nodes].astype(np.int64))
