"""Clone trees: rooted trees whose nodes are sets of mutations, in an order that is left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Agreement
from syclade.host.data.trees.named import contracted
from syclade.host.ground.values import short_repr

__all__ = ["CloneTree", "agreement_with", "clone_tree_at", "clone_tree_of", "make_clone_tree"]


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
        for clone, parent in enumerate(self.parents.tolist()):
            if clone:
                below[parent].append(clone)
        return below

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
    pairs = {
        "ancestors": (tree.before, other.before),
        "lineages": (np.triu(tree.apart), np.triu(other.apart)),
    }
    return {
        name: Agreement(int((one & two).sum()), int(one.sum()), int(two.sum()))
        for name, (one, two) in pairs.items()
    }
