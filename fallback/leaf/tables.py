"""Tables of some slots' cell trees: descendants of every node, and every mutation's sum at every node."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, REATTACH, Proposals
from syclade.fallback.chain.tables import Keep
from syclade.fallback.leaf.edits import edited
from syclade.fallback.leaf.trees import LeafLanes, below_of

CHUNK_BYTES = 2**18
"""Slots are scored in groups whose sums fit in a level 2 cache."""


class LeafTables:
    """Descendants and sums that follow from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, cells, mutations) int32: what each cell adds to the sums above it.
    """

    def __init__(self, parent: NDArray[np.int32], weights: NDArray[np.int32]) -> None:
        self._weights = weights
        self._parent, self._below = parent.copy(), below_of(parent)
        self._sums = self._sums_of(np.arange(len(parent)))

    @staticmethod
    def slot_bytes(nodes: int, cells: int, mutations: int) -> int:
        """Return the memory of a slot's tables."""
        return 4 * mutations * (nodes + cells) + nodes * (nodes + 4)

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self._sums.nbytes + self._weights.nbytes + self._below.nbytes

    @property
    def cost_of_best(self) -> float:
        """Approximate microseconds to score one proposal."""
        return 3 + 0.01 * self._sums[0].size

    cost_of_all = cost_of_best

    def replace(self, slots: NDArray[Any], others: "LeafTables") -> None:
        """Replace the tables of some slots by others."""
        self._weights[slots], self._sums[slots] = others._weights, others._sums
        self._parent[slots], self._below[slots] = others._parent, others._below

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the parent vectors of some slots, (slots, nodes)."""
        return self._parent[slots]

    def lanes(self, slots: NDArray[Any]) -> LeafLanes:
        """Return the trees as lanes in these slots see them."""
        return LeafLanes(self._parent, self._below, slots)

    def prepare(self, lanes: LeafLanes, proposals: Proposals) -> Proposals:
        """Return the proposals unchanged: the methods below need no preparation."""
        return proposals

    def best_after(self, lanes: LeafLanes, proposals: Proposals) -> NDArray[np.int32]:
        """Return every mutation's sum at its best edge after the proposals, (lanes, mutations)."""
        found: NDArray[np.int32] = self.all_after(lanes, proposals, lambda _at, sums: sums.max(axis=1))
        return found

    def all_after(self, lanes: LeafLanes, proposals: Proposals, keep: Keep) -> NDArray[Any]:
        """Return `keep` of every mutation's sums at all edges after the proposals, (lanes, mutations)."""
        slots, step = lanes.slots, max(1, CHUNK_BYTES // self._sums[0].nbytes)
        chunks = [slice(at, at + step) for at in range(0, len(slots), step)]
        return np.concatenate([keep(at, self._after(slots[at], proposals.of(at))) for at in chunks])

    def follow(self, slots: NDArray[Any], proposals: Proposals) -> None:
        """Apply accepted proposals, one per slot."""
        real = proposals.edit != NOTHING
        slots, proposals = slots[real], proposals.of(real)
        if slots.size:
            self._parent[slots] = edited(self._parent[slots], proposals)
            self._below[slots] = below_of(self._parent[slots])
            self._sums[slots] = self._sums_of(slots)

    def _sums_of(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the sums at all nodes, (slots, nodes, mutations).

        They are computed in float64, which is exact, because none reaches 2^30.
        """
        cells = self._weights.shape[1]
        below = self._below[slots, :, :cells].astype(np.float64)
        return (below @ self._weights[slots].astype(np.float64)).astype(np.int32)

    def _after(self, slots: NDArray[Any], proposals: Proposals) -> NDArray[np.int32]:
        """Return the sums after the proposals, (slots, nodes, mutations).

        Cells leave the nodes above x and join those above t; see `kernels/clade/score_mapping.py`.
        """
        slot = np.arange(len(slots))
        parent, below, sums = self._parent[slots], self._below[slots], self._sums[slots]
        reattached, exchanged = proposals.edit == REATTACH, proposals.edit == EXCHANGE_LABELS
        x, t = proposals.v, np.where(exchanged, proposals.w, proposals.t)
        moving = sums[slot, x] - exchanged[:, None] * sums[slot, t]
        moving *= (reattached | exchanged)[:, None]
        above_x = below[slot, :, x].astype(np.int32)
        above_t = below[slot, :, t].astype(np.int32)
        joint = parent[slot, x]
        there = sums[slot, t] + (1 - above_x[slot, t])[:, None] * moving
        for above, end in ((above_x, x), (above_t, t)):
            above[slot, end] = 0  # what is reattached is beside t, not below it
        above_x[reattached, t[reattached]] = below[slot, t, x][reattached]
        sums += (above_t - above_x)[:, :, None] * moving[:, None, :]
        sums[slot[reattached], joint[reattached]] = there[reattached]
        return sums
