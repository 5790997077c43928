"""Trees of many slots in preorder: a subtree is an interval of positions.

The nodes of a tree are numbered depth first, the root at position 0. So the subtree of the node at position p
has the positions p ... p + size - 1. Moves identify a node by its label, tables by its position.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


class Trees:
    """The trees of some slots.

    Args:
        parent: (slots, nodes) int32, the root last.

    Attributes:
        start: (slots, nodes) int64: position of every label.
        size: (slots, nodes) int64: number of nodes in the subtree at every position.
        above: (slots, nodes) int64: position of the parent of every position; 0 for the root.
    """

    def __init__(self, parent: NDArray[np.int32]) -> None:
        shape = parent.shape
        self.start, self.size, self.above = (np.empty(shape, dtype=np.int64) for _ in range(3))
        for slot in range(shape[0]):
            self.start[slot], self.size[slot], self.above[slot] = preorder(parent[slot].tolist())

    @property
    def nodes(self) -> int:
        """Number of nodes of a tree."""
        return self.start.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.start.nbytes + self.size.nbytes + self.above.nbytes

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the parent vectors of some slots, (slots, nodes)."""
        start, above = self.start[slots], self.above[slots]
        label, row = np.empty_like(start), np.arange(len(slots))[:, None]
        label[row, start] = np.arange(self.nodes)
        return label[row, above[row, start]].astype(np.int32)

    def replace(self, slots: NDArray[Any], others: "Trees") -> None:
        """Replace the trees of some slots by others."""
        self.start[slots], self.size[slots], self.above[slots] = others.start, others.size, others.above

    def lanes(self, slots: NDArray[Any]) -> "Lanes":
        """Return the trees as lanes in these slots see them."""
        return Lanes(self, slots, slots * self.nodes)


class Lanes(NamedTuple):
    """Relations of some lanes, read from trees in preorder (`chain.parts.Relations`).

    Attributes:
        trees: of all slots.
        slots: (lanes,): the lanes' slots.
        base: (lanes,): where these begin in flat arrays.
    """

    trees: Trees
    slots: NDArray[Any]
    base: NDArray[Any]

    def of(self, at: Any) -> "Lanes":
        """See `Relations`."""
        return Lanes(self.trees, self.slots[at], self.base[at])

    def start_of(self, node: NDArray[Any]) -> Positions:
        """Return the positions of labels."""
        return self.trees.start.take(self.base + node)

    def size_at(self, position: NDArray[Any]) -> Positions:
        """Return the sizes of the subtrees at positions."""
        return self.trees.size.take(self.base + position)

    def above_at(self, position: NDArray[Any]) -> Positions:
        """Return the positions of the parents of positions."""
        return self.trees.above.take(self.base + position)

    def is_descendant(self, node: NDArray[Any], ancestor: NDArray[Any]) -> NDArray[np.bool_]:
        """See `Relations`."""
        below, above = self.start_of(node), self.start_of(ancestor)
        return (below >= above) & (below < above + self.size_at(above))

    def subtree_size(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        return self.size_at(self.start_of(node))

    def select(self, node: NDArray[Any], inside: bool, rank: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        starts, top = self.trees.start[self.slots], self.start_of(node)[:, None]
        members = ((starts >= top) & (starts < top + self.size_at(top[:, 0])[:, None])) == inside
        return np.argmax(np.cumsum(members, axis=1) > rank[:, None], axis=1)

    def parent_of(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        above = self.above_at(self.start_of(node))
        return np.argmax(self.trees.start[self.slots] == above[:, None], axis=1)


def preorder(parent: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Return the positions by label, then the sizes and the parents' positions by position."""
    root = len(parent) - 1
    children: list[list[int]] = [[] for _ in parent]
    for node in range(root):
        children[parent[node]].append(node)
    start, size, above = [0] * len(parent), [1] * len(parent), [0] * len(parent)
    order: list[int] = []
    pending = [root]
    while pending:
        node = pending.pop()
        start[node] = len(order)
        above[len(order)] = start[parent[node]]
        order.append(node)
        pending += children[node]
    for position in range(root, 0, -1):
        size[above[position]] += size[position]
    return start, size, above
