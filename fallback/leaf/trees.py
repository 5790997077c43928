"""Cell trees of many slots: parents, and descendants as booleans."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


def below_of(
    parent: NDArray[np.int32],  # IN (slots, nodes)
) -> NDArray[np.bool_]:
    """Return the descendants, (slots, nodes, nodes): [s, a, b] is true if a is b or above it."""
    slots, nodes = parent.shape
    below = np.zeros((slots, nodes, nodes), dtype=np.bool_)
    slot, node = np.ogrid[:slots, :nodes]
    above = np.broadcast_to(node, parent.shape)
    while True:
        below[slot, above, node] = True
        if (above == nodes - 1).all():
            return below
        above = parent[slot, above]


class LeafLanes(NamedTuple):
    """Relations of some lanes, read from cell trees (`chain.parts.Relations`).

    Attributes:
        parent: (trees, nodes) int32.
        below: (trees, nodes, nodes) bool, from `below_of`.
        slots: (lanes,): the lanes' trees.
    """

    parent: NDArray[Any]
    below: NDArray[Any]
    slots: NDArray[Any]

    def of(self, at: Any) -> "LeafLanes":
        """See `Relations`."""
        return self._replace(slots=self.slots[at])

    def is_descendant(self, node: NDArray[Any], ancestor: NDArray[Any]) -> NDArray[np.bool_]:
        """See `Relations`."""
        return self.below[self.slots, ancestor, node]

    def subtree_size(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        return self.below[self.slots, node].sum(axis=1)

    def select(self, node: NDArray[Any], inside: bool, rank: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        members = self.below[self.slots, node] == inside
        return np.argmax(np.cumsum(members, axis=1) > rank[:, None], axis=1)

    def parent_of(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        return self.parent[self.slots, node].astype(np.int64)
