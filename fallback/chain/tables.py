"""The tables of some slots: descendants, and the score of every column at every node."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.edits import Shifts, edited, exchange, shifts_of
from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, Proposals, Trees
from syclade.fallback.chain.trees import below_of

Keep: TypeAlias = Callable[[slice, NDArray[Any]], NDArray[Any]]
"""From (which of the slots, their scores at all nodes) to what is kept of them."""

CHUNK_BYTES = 2**18
"""Slots are scored in groups whose scores fit in a level 2 cache."""


class Tables:
    """What follows from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, nodes, columns) int32: what each node adds; 0 for the root.
    """

    def __init__(self, parent: NDArray[np.int32], weights: NDArray[np.int32]) -> None:
        self._weights = weights
        self.trees = Trees(parent.copy(), below_of(parent))
        slots, nodes = parent.shape
        self._scores = np.zeros((slots, nodes, weights.shape[2]), dtype=np.int32)
        for node in range(nodes - 1):
            self._scores += self.trees.below[:, node, :, None] * weights[:, None, node, :]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self._scores.nbytes + self._weights.nbytes + self.trees.below.nbytes

    def replace(self, slots: NDArray[Any], others: "Tables") -> None:
        """Some slots' tables become others."""
        self._weights[slots], self._scores[slots] = others._weights, others._scores
        self.trees.parent[slots], self.trees.below[slots] = others.trees.parent, others.trees.below

    def found_after(self, slots: NDArray[Any], proposals: Proposals, keep: Keep) -> NDArray[Any]:
        """What is kept of every column's scores at all nodes after proposals, (slots, columns)."""
        step = max(1, CHUNK_BYTES // self._scores[0].nbytes)
        chunks = [slice(at, at + step) for at in range(0, len(slots), step)]
        return np.concatenate(
            [
                self._found_after(slots[at], Proposals(*(field[at] for field in proposals)), at, keep)
                for at in chunks
            ]
        )

    def _found_after(self, slots: NDArray[Any], proposals: Proposals, at: slice, keep: Keep) -> NDArray[Any]:
        shifts = self._shifts(slots, proposals)
        if len(slots) > 1:
            return keep(at, self._shifted(slots, shifts))
        # Large scores are shifted where they stand, and back: most shifts are of few nodes.
        (slot,) = slots
        self._shift_one(slot, shifts, 1)
        alone = keep(at, self._scores[slot][None])
        self._shift_one(slot, shifts, -1)
        return alone

    def _shift_one(self, slot: int, shifts: Shifts, sign: int) -> None:
        self._scores[slot][shifts.nodes_1[0]] += sign * shifts.row_1[0]
        self._scores[slot][shifts.nodes_2[0]] += sign * shifts.row_2[0]

    def _shifts(self, slots: NDArray[Any], proposals: Proposals) -> Shifts:
        return shifts_of(self.trees.of(slots), proposals, slots, self._scores, self._weights)

    def _shifted(self, slots: NDArray[Any], shifts: Shifts) -> NDArray[np.int32]:
        scores = self._scores[slots]
        scores += shifts.nodes_1[:, :, None] * shifts.row_1[:, None, :]
        scores += shifts.nodes_2[:, :, None] * shifts.row_2[:, None, :]
        return scores

    def follow(self, slots: NDArray[Any], proposals: Proposals) -> None:
        """Trees take the proposals."""
        real = proposals.edit != NOTHING
        slots, proposals = slots[real], Proposals(*(field[real] for field in proposals))
        if not slots.size:
            return
        self._scores[slots] = self._shifted(slots, self._shifts(slots, proposals))
        self.trees.parent[slots] = edited(self.trees.parent[slots], proposals)
        labels = proposals.edit == EXCHANGE_LABELS
        at, v, w = slots[labels], proposals.v[labels], proposals.w[labels]
        exchange(self._scores, at, v, w)
        exchange(self.trees.below, at, v, w)
        exchange(self.trees.below.transpose(0, 2, 1), at, v, w)
        moved = slots[~labels]
        self.trees.below[moved] = below_of(self.trees.parent[moved])
