"""The tables of some slots' cell-leaf trees: who is below whom, and every mutation's sum at every node."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, REATTACH, Proposals, Trees
from syclade.fallback.chain.tables import Keep
from syclade.fallback.chain.trees import below_of
from syclade.fallback.leaf.edits import edited

CHUNK_BYTES = 2**18
"""Slots are scored in groups whose sums fit in a level 2 cache."""


class LeafTables:
    """What follows from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, cells, mutations) int32: what each cell adds to sums above it.
    """

    def __init__(self, parent: NDArray[np.int32], weights: NDArray[np.int32]) -> None:
        self._weights = weights
        self.trees = Trees(parent.copy(), below_of(parent))
        self._sums = self._sums_of(np.arange(len(parent)))

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self._sums.nbytes + self._weights.nbytes + self.trees.below.nbytes

    def found_after(self, slots: NDArray[Any], proposals: Proposals, keep: Keep) -> NDArray[Any]:
        """What is kept of every mutation's sums at all edges after proposals, (slots, mutations)."""
        step = max(1, CHUNK_BYTES // self._sums[0].nbytes)
        chunks = [slice(at, at + step) for at in range(0, len(slots), step)]
        return np.concatenate(
            [
                keep(at, self._after(slots[at], Proposals(*(field[at] for field in proposals))))
                for at in chunks
            ]
        )

    def follow(self, slots: NDArray[Any], proposals: Proposals) -> None:
        """Trees take the proposals."""
        real = proposals.edit != NOTHING
        slots, proposals = slots[real], Proposals(*(field[real] for field in proposals))
        if slots.size:
            self.trees.parent[slots] = edited(self.trees.parent[slots], proposals)
            self.trees.below[slots] = below_of(self.trees.parent[slots])
            self._sums[slots] = self._sums_of(slots)

    def _sums_of(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Of all nodes; floats have room for them, for none reaches 2^30."""
        cells = self._weights.shape[1]
        below = self.trees.below[slots, :, :cells].astype(np.float64)
        return (below @ self._weights[slots].astype(np.float64)).astype(np.int32)

    def _after(self, slots: NDArray[Any], proposals: Proposals) -> NDArray[np.int32]:
        """Cells leave the clades above x and join those above t; see `kernels/clade/score_mapping.py`."""
        slot = np.arange(len(slots))
        trees, sums = self.trees.of(slots), self._sums[slots]
        reattached, exchanged = proposals.edit == REATTACH, proposals.edit == EXCHANGE_LABELS
        x, t = proposals.v, np.where(exchanged, proposals.w, proposals.t)
        moving = sums[slot, x] - exchanged[:, None] * sums[slot, t]
        moving *= (reattached | exchanged)[:, None]
        above_x = trees.below[slot, :, x].astype(np.int32)
        above_t = trees.below[slot, :, t].astype(np.int32)
        joint = trees.parent[slot, x]
        there = sums[slot, t] + (1 - above_x[slot, t])[:, None] * moving
        for above, end in ((above_x, x), (above_t, t)):
            above[slot, end] = 0  # of t itself, what is reattached hangs beside
        above_x[reattached, t[reattached]] = trees.below[slot, t, x][reattached]
        sums += (above_t - above_x)[:, :, None] * moving[:, None, :]
        sums[slot[reattached], joint[reattached]] = there[reattached]
        return sums
