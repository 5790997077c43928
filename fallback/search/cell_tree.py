"""The cell tree of a search: binary, with (groups of) cells as leaves, and mutations attached to its edges.

The mirror of `kernels/search/cell_tree.py`.
"""

import numpy as np
from numpy.typing import NDArray


class CellTree:
    """Leaves, and room for the internal nodes that join them.

    Attributes:
        root: number of the root; set by the caller.
        left, right, above: children and parent of every node; -1 for none.
        sums: (nodes, mutations) int32: each mutation's weights, summed over the cells below the edge.
        tops: the same, the best sum at or below the edge.

    Args:
        leaves: (leaves, mutations) int32: the sums of nodes 0, 1, ...; those of the other nodes are 0 at
            first.
    """

    def __init__(self, leaves: NDArray[np.int32], root: int) -> None:
        joints = 2 * len(leaves) - 1
        self.root = root
        self.left, self.right, self.above = ([-1] * joints for _ in range(3))
        self.sums = np.zeros((joints, leaves.shape[1]), dtype=np.int32)
        self.sums[: len(leaves)] = leaves
        self.tops = self.sums.copy()

    def join(self, joint: int, left: int, right: int) -> None:
        """Make two nodes the children of a third."""
        self.left[joint], self.right[joint] = left, right
        self.above[left] = self.above[right] = joint
        self.sums[joint] = self.sums[left] + self.sums[right]
        self._renew_top(joint)

    def add_up(self, joint: int, row: NDArray[np.int32]) -> None:
        """Add a row to the sums of a node and of its ancestors; do nothing for node -1."""
        while joint >= 0:
            self.sums[joint] += row
            self._renew_top(joint)
            joint = self.above[joint]

    def _renew_top(self, joint: int) -> None:
        top = self.tops[joint]
        np.maximum(self.tops[self.left[joint]], self.tops[self.right[joint]], out=top)
        np.maximum(top, self.sums[joint], out=top)

    def sibling(self, joint: int) -> int:
        """Return the other child of the parent."""
        upper = self.above[joint]
        return self.right[upper] if self.left[upper] == joint else self.left[upper]

    def replace(self, old: int, new: int) -> None:
        """Put `new` in the place of `old`, whose own links stay."""
        upper = self.above[old]
        self.above[new] = upper
        if upper < 0:
            self.root = new
        elif self.left[upper] == old:
            self.left[upper] = new
        else:
            self.right[upper] = new

    def preorder(self) -> list[int]:
        """Return the nodes in preorder, left children first."""
        order, pending = [], [self.root]
        while pending:
            joint = pending.pop()
            order.append(joint)
            if self.left[joint] >= 0:
                pending += (self.right[joint], self.left[joint])
        return order

    def score(self) -> int:
        """Return the score with every mutation on its best edge, or on none."""
        return int(np.maximum(self.tops[self.root], 0).sum(dtype=np.int64))
