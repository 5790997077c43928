"""Support of clones: how many sampled trees have the same mutations below one node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.consensus.clone_tree import CloneTree
from syclade.host.consensus.relations import TreeBlocks

__all__ = ["clone_support"]

_TOGETHER = 512
"""Number of trees that are climbed at once."""

_KEYS = 20260
"""Seed of the mutations' keys."""


def clone_support(tree: CloneTree, blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return the share of sampled trees that have each clone with all that is below it, and no more.

    A sampled tree has a clone if the mutations at and below one of its nodes are exactly those of the clone
    and of all clones below it. Sets are compared by the sum of 64-bit random keys of their mutations.

    Args:
        tree: the clone tree.
        blocks: the sampled trees.

    Returns:
        float64, shape (clones,); 1 for the root.
    """
    keys = np.random.Generator(np.random.PCG64(_KEYS)).integers(0, 2**64, len(tree.clone_of), dtype=np.uint64)
    own = np.zeros(tree.clones, dtype=np.uint64)
    np.add.at(own, tree.clone_of, keys)
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(own, dtype=np.uint64)))
    wanted = running[tree.ends] - running[:-1]
    order = np.argsort(wanted[1:], kind="stable") + 1
    counts, samples = np.zeros(tree.clones, dtype=np.int64), 0
    for trees in blocks():
        samples += len(trees)
        for first in range(0, len(trees), _TOGETHER):
            found = _subtree_keys(trees[first : first + _TOGETHER], keys).ravel()
            at = np.searchsorted(wanted[order], found)
            inside = np.minimum(at, len(order) - 1)
            has = wanted[order][inside] == found
            counts += np.bincount(order[inside[has]], minlength=tree.clones)
    shares = counts / samples
    shares[0] = 1.0
    return np.asarray(shares)


def _subtree_keys(trees: NDArray[np.int32], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sum of the keys of the mutations at and below each node but the root, modulo 2^64.

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
        keys: uint64, shape (n,).

    Returns:
        uint64, shape (trees, n).
    """
    n = trees.shape[1] - 1
    sums = np.broadcast_to(keys, (len(trees), n)).copy()
    tree, lower = (at.ravel() for at in np.indices((len(trees), n)))
    upper = trees[:, :n].ravel()
    while True:
        inner = upper < n
        tree, lower, upper = tree[inner], lower[inner], upper[inner]
        if not upper.size:
            return sums
        np.add.at(sums, (tree, upper), keys[lower])
        upper = trees[tree, upper]
