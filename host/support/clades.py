"""Clades: for each node of a tree, how many sampled trees have a node with the same mutations below it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.support.levels import levels_of

__all__ = ["clade_shares"]

_TOGETHER = 256
"""Number of trees that are walked at once."""


def clade_shares(parents: NDArray[np.int32], trees: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of trees that have each clade of a tree: a mutation and all mutations below it.

    A clade is the same set of mutations, whichever of them is above the others. Sets are compared by sums of
    64-bit numbers, drawn for each mutation: two different sets have equal sums with probability 2^-64.

    Args:
        parents: int32, shape (n + 1,): the tree.
        trees: int32, shape (trees, n + 1), at least one.

    Returns:
        float64, shape (n,): by the mutation at the top of the clade in the tree.
    """
    n = len(parents) - 1
    marks = np.random.Generator(np.random.Philox(0)).integers(0, 2**64, n, dtype=np.uint64)
    own = _sums(parents[None], marks)[0]
    order = np.argsort(own)
    found = np.zeros(n, dtype=np.int64)
    for first in range(0, len(trees), _TOGETHER):
        sums = _sums(trees[first : first + _TOGETHER], marks).ravel()
        nearest = order[np.minimum(np.searchsorted(own[order], sums), n - 1)]
        found += np.bincount(nearest[own[nearest] == sums], minlength=n)  # a tree has each clade once
    return found / len(trees)


def _sums(trees: NDArray[np.int32], marks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sum of the marks of each clade, modulo 2^64: uint64, shape (trees, n)."""
    sums = np.zeros(trees.shape, dtype=np.uint64)
    sums[:, :-1] = marks
    for level in reversed(list(levels_of(trees))):
        np.add.at(sums, (level.trees, level.parents), sums[level.trees, level.nodes])
    return sums[:, :-1]
