"""Tables of some slots' trees with two nodes of one mutation: scores read whole trees."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Proposals, Space
from syclade.fallback.leaf.trees import LeafLanes
from syclade.fallback.sums.tables import SumTables
from syclade.fallback.sums.trees import edited

FORBIDDEN = -(2**40)
"""Score of a cell in a tree whose copies are siblings, or parent and child; see kernels/parities/parts.py."""


class Trees(NamedTuple):
    """Trees after proposals, from which scores are computed.

    Attributes:
        parents: (lanes, nodes) int32; the last node is the root, and the one before it the copy.
        observed: (mutations, columns) uint8: classes.
    """

    parents: NDArray[np.int32]
    observed: NDArray[np.uint8]

    def allowed(
        self,
        mutation: NDArray[np.int64],  # IN (lanes,): the recurrent mutations
    ) -> NDArray[np.bool_]:
        """Return whether the copies are neither siblings nor parent and child, (lanes,)."""
        copy = self.parents.shape[1] - 2
        of_first, of_copy = self.parents[np.arange(len(self.parents)), mutation], self.parents[:, copy]
        return (of_first != of_copy) & (of_first != copy) & (of_copy != mutation)


class TreeTables(SumTables):
    """Descendants that follow from the trees of a group of slots; arguments as for `SumTables`."""

    def best_after(self, lanes: LeafLanes, proposals: Proposals) -> Any:
        """Return the Trees after the proposals."""
        return Trees(edited(self._parent[lanes.slots], proposals), self._observed)


SPACE = Space(
    labels=len,
    slot_bytes=lambda observed: TreeTables.slot_bytes(*observed.shape),
    tables=TreeTables,
)
"""The space of mutation trees with two nodes of one mutation."""
