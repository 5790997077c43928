"""Clone trees, whose nodes are sets of mutations in an open order, and their support by sampled trees.

Support of an edge, clade or clone is the share of sampled trees that have it, or nearly have it. Clades and
clones are sets of mutations, compared by the sums of 64-bit random keys of their mutations: two different
sets have equal sums with probability 2^-64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Agreement
from syclade.host.data.trees.named import contracted
from syclade.host.data.trees.tree import levels_of
from syclade.host.findings.consensus.relations import TreeBlocks
from syclade.host.ground.values import short_repr

__all__ = [
    "CloneTree", "agreement_with", "clade_support", "clone_support", "clone_tree_at", "clone_tree_of",
    "descendants", "edge_support", "make_clone_tree", "spaced_trees", "transfer_support",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class CloneTree:
    """A clone tree; clones are numbered in preorder, and clone 0 is the root, which has no mutations.

    Attributes:
        clone_of: int32, shape (n,): the clone of each mutation.
        parents: int32, shape (clones,): parent of each clone; the root is its own.
    """

    clone_of: NDArray[np.int32]
    parents: NDArray[np.int32]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def is_equal(self, other: CloneTree) -> bool:
        """Return whether the other tree has the same clones with the same parents."""
        same = np.array_equal(self.clone_of, other.clone_of)
        return same and np.array_equal(self.parents, other.parents)

    @property
    def clones(self) -> int:
        """Number of clones, with the root."""
        return len(self.parents)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """int64, shape (clones,): clone c and those below it are numbers c … ends[c] - 1."""
        ends = list(range(1, self.clones + 1))
        above = self.parents.tolist()
        for clone in range(self.clones - 1, 0, -1):
            parent = above[clone]
            if ends[parent] < ends[clone]:
                ends[parent] = ends[clone]
        return np.array(ends, dtype=np.int64)

    @cached_property
    def members(self) -> list[list[int]]:
        """The mutations of each clone, ascending."""
        order: list[int] = np.argsort(self.clone_of, kind="stable").tolist()
        ends = np.cumsum(np.bincount(self.clone_of, minlength=self.clones)).tolist()
        return [order[start:end] for start, end in pairwise([0, *ends])]

    @property
    def children(self) -> list[list[int]]:
        """The children of each clone, ascending."""
        below: list[list[int]] = [[] for _ in range(self.clones)]
        for clone, parent in enumerate(self.parents[1:].tolist(), start=1):
            below[parent].append(clone)
        return below

    @property
    def parents_root_last(self) -> NDArray[np.int32]:
        """int32, shape (clones,): parents of clones 1, 2, … as nodes 0, 1, …; the root comes last."""
        last = self.clones - 1
        parents = np.append(self.parents[1:] - 1, last).astype(np.int32)
        parents[parents < 0] = last
        return parents

    @property
    def within(self) -> NDArray[np.bool_]:
        """bool, shape (clones, clones): whether the column's clone is the row's, or below it."""
        numbers = np.arange(self.clones)
        return np.asarray((numbers >= numbers[:, np.newaxis]) & (numbers < self.ends[:, np.newaxis]))

    @property
    def before(self) -> NDArray[np.bool_]:
        """bool, shape (n, n): whether the clone of the row's mutation is above the clone of the column's."""
        strict = self.within & ~np.eye(self.clones, dtype=np.bool_)
        return np.asarray(strict[self.clone_of[:, np.newaxis], self.clone_of[np.newaxis, :]])

    @property
    def apart(self) -> NDArray[np.bool_]:
        """bool, shape (n, n): whether the clones of two mutations are on different lineages."""
        related = self.within | self.within.T
        return np.asarray(~related[self.clone_of[:, np.newaxis], self.clone_of[np.newaxis, :]])


def make_clone_tree(clone_of: Sequence[int] | NDArray[np.int32], parents: Sequence[int]) -> CloneTree:
    """Return a clone tree with its clones renumbered: in preorder, children by their smallest mutation.

    Args:
        clone_of: clone of each mutation.
        parents: parent of each clone; clone 0 is the root. Clones without mutations, except the root, must
            have no children; they are dropped.
    """
    of, above = np.asarray(clone_of, dtype=np.int32), np.asarray(parents, dtype=np.int32)
    first = np.full(len(above), -1)
    first[of[::-1]] = np.arange(len(of) - 1, -1, -1)  # the first mutation of each clone is written last
    below: dict[int, list[int]] = {}
    latest = np.argsort(-first)[: np.count_nonzero(first >= 0)]
    for clone, parent in zip(latest.tolist(), above[latest].tolist(), strict=True):
        below.setdefault(parent, []).append(clone)
    order, waiting = [0], below.get(0, [])
    while waiting:
        clone = waiting.pop()
        order.append(clone)
        if clone in below:
            waiting += below[clone]
    number = np.zeros(len(above), dtype=np.int32)
    number[order] = np.arange(len(order))
    return CloneTree(number[of], number[above[order]])


def clone_tree_of(parents: NDArray[np.int32]) -> CloneTree:
    """Return a mutation tree as a clone tree with one mutation in each clone.

    Args:
        parents: parent vector, int32, shape (n + 1,).
    """
    n = len(parents) - 1
    above = [0 if parent == n else parent + 1 for parent in parents[:n].tolist()]
    return make_clone_tree(range(1, n + 1), [0, *above])


def clone_tree_at(parents: NDArray[np.int32], node: NDArray[np.int32]) -> CloneTree:
    """Return any tree whose nodes have sets of mutations as a clone tree; empty nodes are passed over.

    Args:
        parents: int32, shape (nodes,): parents of the nodes, the root last; it has no mutations.
        node: int32, shape (n,): node of each mutation.
    """
    parents, node = contracted(parents, node)
    root = len(parents) - 1
    above = [0 if parent == root else parent + 1 for parent in parents[:-1].tolist()]
    return make_clone_tree([at + 1 for at in node.tolist()], [0, *above])


def agreement_with(tree: CloneTree, true: NDArray[np.int32]) -> dict[str, Agreement]:
    """Compare the claims of a clone tree with the true tree; pairs in one clone are no claims.

    Args:
        tree: the clone tree.
        true: parent vector of the true tree, int32, shape (n + 1,).

    Returns:
        The agreement on `ancestors`, ordered pairs (ancestor, descendant), and on `lineages`, unordered pairs
        of mutations of which neither is an ancestor of the other.
    """
    other = clone_tree_of(true)
    ancestors, lineages = (tree.before, other.before), (np.triu(tree.apart), np.triu(other.apart))
    return {
        name: Agreement(int((one & two).sum()), int(one.sum()), int(two.sum()))
        for name, (one, two) in (("ancestors", ancestors), ("lineages", lineages))
    }


_TOGETHER = 512
"""Number of trees that are climbed at once."""

_AT_ONCE, _WORK, _MOST_TRANSFERS = 2**22, 10**10, 2000
"""Entries of matrices that are worked on at once; most products, and most trees, for transfer support."""

_KEYS = 20260
"""Seed of the mutations' keys."""


def edge_support(parents: NDArray[np.int32], blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return the share of sampled trees in which each mutation has the same parent as in a tree.

    Args:
        parents: int32, shape (n + 1,): the tree.
        blocks: the sampled trees, at least one.

    Returns:
        float64, shape (n,).
    """
    counts, samples = np.zeros(len(parents) - 1, dtype=np.int64), 0
    for trees in blocks():
        samples += len(trees)
        counts += (trees[:, :-1] == parents[:-1]).sum(axis=0)
    return np.asarray(counts / samples)


def clade_support(parents: NDArray[np.int32], blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return the share of sampled trees that have each clade of a tree.

    A clade is a mutation and all mutations below it, as a set, whichever of them is above the others.

    Args:
        parents: int32, shape (n + 1,): the tree.
        blocks: the sampled trees, at least one.

    Returns:
        float64, shape (n,): by the mutation at the top of the clade in the tree.
    """
    keys = _keys(len(parents) - 1)
    return _shares(_subtree_keys(parents[None], keys)[0], keys, blocks)


def transfer_support(parents: NDArray[np.int32], blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return how nearly sampled trees have each clade of a tree: 1 if all have it, 0 if none has any of it.

    The transfer distance of a clade of p mutations to a tree is the number of mutations to add or to remove
    until the tree has it. At most p are removed from a clade, or n + 1 - p added, until it says nothing; the
    smaller number is the worst distance. The support is 1 - the mean distance / the worst one. So one
    mutation that wanders costs a large clade little, and for a single mutation it is the strict support.

    Args:
        parents: int32, shape (n + 1,): the tree.
        blocks: the sampled trees, at least one; up to 2000 of them are used, evenly spaced.

    Returns:
        float64, shape (n,): by the mutation at the top of the clade in the tree.

    Source: Lemoine et al., "Renewing Felsenstein's phylogenetic bootstrap in the era of big data", Nature
    556:452, 2018; there for bipartitions of leaves, with p - 1 as the worst distance.
    """
    n = len(parents) - 1
    if not n:
        return np.zeros(0)
    own = descendants(parents[None])[0]
    size = own.sum(axis=1)
    worst = np.minimum(size, n + 1 - size)
    samples = sum(len(trees) for trees in blocks())
    trees = spaced_trees(blocks, samples, max(16, min(_MOST_TRANSFERS, _WORK // n**3)))
    total, step = np.zeros(n), max(1, _AT_ONCE // n**2)
    for first in range(0, len(trees), step):
        sets = descendants(trees[first : first + step])
        common = sets @ own.T  # (trees, n, n): by the node of the sample, and the clade of the tree
        distance = (size + sets.sum(axis=2)[:, :, None] - 2 * common).min(axis=1)
        total += np.minimum(distance, worst).sum(axis=0, dtype=np.float64)
    return np.asarray(1.0 - total / (len(trees) * worst))


def descendants(trees: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return which mutations are at or below each mutation in some trees: float32, shape (trees, n, n).

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
    """
    n = trees.shape[1] - 1
    found = np.zeros((len(trees), n, n), dtype=np.float32)
    tree, lower = (at.ravel() for at in np.indices((len(trees), n)))
    upper = lower
    while upper.size:
        found[tree, upper, lower] = 1.0
        upper = trees[tree, upper]
        inner = upper < n
        tree, lower, upper = tree[inner], lower[inner], upper[inner]
    return found


def spaced_trees(blocks: TreeBlocks, samples: int, most: int) -> NDArray[np.int32]:
    """Return at most so many of the sampled trees, evenly spaced: int32, shape (trees, n + 1).

    Args:
        blocks: the sampled trees, at least one.
        samples: their number.
        most: most trees.
    """
    wanted = np.unique(np.arange(most) * samples // most)
    found, first = [], 0
    for trees in blocks():
        found.append(trees[wanted[(wanted >= first) & (wanted < first + len(trees))] - first])
        first += len(trees)
    return np.concatenate(found)


def clone_support(tree: CloneTree, blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return the share of sampled trees that have each clone with all that is below it, and no more.

    A sampled tree has a clone if the mutations at and below one of its nodes are exactly those of the clone
    and of all clones below it.

    Args:
        tree: the clone tree.
        blocks: the sampled trees, at least one.

    Returns:
        float64, shape (clones,); 1 for the root.
    """
    keys = _keys(len(tree.clone_of))
    own = np.zeros(tree.clones, dtype=np.uint64)
    np.add.at(own, tree.clone_of, keys)
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(own, dtype=np.uint64)))
    below = running[tree.ends] - running[:-1]
    return np.concatenate(([1.0], _shares(below[1:], keys, blocks)))


def _keys(mutations: int) -> NDArray[np.uint64]:
    """Return the keys of the mutations: uint64, shape (n,)."""
    return np.random.Generator(np.random.PCG64(_KEYS)).integers(0, 2**64, mutations, dtype=np.uint64)


def _shares(wanted: NDArray[np.uint64], keys: NDArray[np.uint64], blocks: TreeBlocks) -> NDArray[np.float64]:
    """Return the share of sampled trees with a node whose own and lower mutations are each wanted set.

    Args:
        wanted: uint64, shape (sets,): sum of the keys of each set, all different.
        keys: uint64, shape (n,): keys of the mutations.
        blocks: the sampled trees, at least one.

    Returns:
        float64, shape (sets,).
    """
    order = np.argsort(wanted, kind="stable")
    ascending = wanted[order]
    counts, samples = np.zeros(len(wanted), dtype=np.int64), 0
    for trees in blocks():
        samples += len(trees)
        for first in range(0, len(trees), _TOGETHER):
            found = _subtree_keys(trees[first : first + _TOGETHER], keys).ravel()
            at = np.minimum(np.searchsorted(ascending, found), len(order) - 1)
            has = ascending[at] == found
            counts += np.bincount(order[at[has]], minlength=len(wanted))  # a tree has each set once
    return np.asarray(counts / samples)


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
    for level in reversed(list(levels_of(trees))[1:]):  # those at depth 1 are below the root
        np.add.at(sums, (level.trees, level.parents), sums[level.trees, level.nodes])
    return sums
