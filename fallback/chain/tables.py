"""Tables of some slots: scores of all columns at all nodes, in preorder, and their range maxima."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.changes import INNER, MINUS_OUTER, OUTER, Change, changes_of, follow
from syclade.fallback.chain.intervals import START, A, B, C, D, Intervals, intervals_of
from syclade.fallback.chain.maxima import Lookup, levels_of, renew
from syclade.fallback.chain.parts import NOTHING, REATTACH, Proposals
from syclade.fallback.chain.trees import Lanes, Positions, Trees

Keep: TypeAlias = Callable[[slice, NDArray[Any]], NDArray[Any]]
"""From (selection of the lanes, their scores at all nodes) to what is kept of them, (lanes, columns)."""

CHUNK_BYTES = 2**20
"""Lanes are scored in chunks whose rows fit in a level 2 cache."""

MANY, SMALL = 16, 512
"""With so many slots, tables of up to so many scores are made anew rather than changed one by one."""

WORTH_A_GAP = 64
"""If this many positions between two runs stay as they are, their maxima are recomputed separately."""


class Tables:
    """Scores and maxima that follow from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, nodes, columns) int32: what each node adds; 0 for the root.
    """

    _only_trees = True
    """Flag: scores follow from trees and weights alone."""

    def __init__(self, parent: NDArray[np.int32], weights: NDArray[np.int32]) -> None:
        self.trees = Trees(parent)
        slots, nodes, columns = weights.shape
        self._levels = levels_of(nodes)
        self._lookup = Lookup(nodes)
        # A slot's rows: the levels of maxima, the scores first, then the weights by node.
        self._table = np.empty((slots, self._levels + 1, nodes, columns), dtype=np.int32)
        self._table[:, -1] = weights
        self._table[:, 0] = scores_of(self.trees.start, self.trees.above, weights)
        # Views of the levels, because slots are updated one by one.
        self._levels_of = [[*table[:-1]] for table in self._table]
        for levels in self._levels_of:
            renew(levels, 0, nodes)

    @staticmethod
    def slot_bytes(nodes: int, columns: int) -> int:
        """Return the memory of a slot's tables."""
        return 4 * columns * nodes * (levels_of(nodes) + 1)

    @property
    def cost_of_best(self) -> float:
        """Approximate microseconds for the best nodes after one proposal."""
        return 0.3 + 0.006 * self._table.shape[3]

    @property
    def cost_of_all(self) -> float:
        """Approximate microseconds for the scores at all nodes after one proposal."""
        return 3 + 0.005 * self._table.shape[2] * self._table.shape[3]

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self._table.nbytes + self.trees.nbytes

    def replace(self, slots: NDArray[Any], others: "Tables") -> None:
        """Replace the tables of some slots by others."""
        self._table[slots] = others._table
        self.trees.replace(slots, others.trees)

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the parent vectors of some slots, (slots, nodes)."""
        return self.trees.parents(slots)

    def lanes(self, slots: NDArray[Any]) -> Lanes:
        """Return the trees as lanes in these slots see them."""
        return self.trees.lanes(slots)

    def prepare(self, lanes: Lanes, proposals: Proposals) -> Intervals:
        """Prepare some lanes' proposals for the methods below."""
        return intervals_of(lanes, proposals, self._levels * self.trees.nodes)

    def best_after(self, lanes: Lanes, parts: Intervals) -> NDArray[np.int32]:
        """Return every column's score at its best node after the proposals, (lanes, columns)."""
        best = np.empty((len(lanes.slots), self._table.shape[3]), dtype=np.int32)
        step = max(1, CHUNK_BYTES // (14 * best.itemsize * best.shape[1]))
        # Lanes are ordered by move. If they reattach a subtree, their outer intervals are empty.
        others = np.append(parts.edit, NOTHING) != REATTACH
        end = int(others.argmax())
        starts = [*range(0, end, step), *range(end, len(best), step)]
        for start, stop in zip(starts, [*starts[1:], len(best)], strict=True):
            at = slice(start, stop)
            self._best(lanes.slots[at], parts.of(at), start < end, best[at])
        return best

    def _best(self, slots: NDArray[Any], parts: Intervals, reattached: bool, best: NDArray[np.int32]) -> None:
        cuts = parts.cuts
        which = [START, B, D] if reattached else [START, B, D, A, C]
        count = len(which)
        rows = self._lookup.rows(cuts[which], cuts[1:][which]).reshape(2 * count, -1)
        found = self._rows(slots, np.concatenate((rows, parts.rows[2:] if reattached else parts.rows)))
        intervals = np.maximum(found[:count], found[count : 2 * count], out=found[:count])
        inner = found[-2]
        inner -= found[-1]
        intervals[1] += inner
        if not reattached:
            outer = found[-4]
            outer -= found[-3]
            intervals[3] += outer
            # If c to d is empty, this is the root's row, which must not be shifted.
            outer *= np.where(parts.related, cuts[C] < cuts[D], -1).astype(np.int32)[:, None]
            intervals[4] += outer
        np.maximum.reduce(intervals, axis=0, out=best)

    def all_after(self, lanes: Lanes, parts: Intervals, keep: Keep) -> NDArray[Any]:
        """Return `keep` of every column's scores at all nodes after the proposals, (lanes, columns)."""
        step = max(1, CHUNK_BYTES // self._table[0, 0].nbytes)
        chunks = [slice(at, at + step) for at in range(0, len(lanes.slots), step)]
        return np.concatenate(
            [keep(chunk, self._all(lanes.slots[chunk], parts.of(chunk))) for chunk in chunks]
        )

    def _all(self, slots: NDArray[Any], parts: Intervals) -> NDArray[np.int32]:
        outer, inner = self._shifts(slots, parts)
        scores = self._table[slots, 0]
        for lane, (_, a, b, c, d, _) in enumerate(parts.cuts.T.tolist()):
            scores[lane, a:b] += outer[lane]
            scores[lane, b:c] += inner[lane]
            scores[lane, c:d] += outer[lane] if parts.related[lane] else -outer[lane]
        return scores

    def _shifts(self, slots: NDArray[Any], parts: Intervals) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the outer and the inner shifts, (lanes, columns) each."""
        rows = self._rows(slots, parts.rows)
        return rows[0] - rows[1], rows[2] - rows[3]

    def _rows(self, slots: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int32]:
        """Return rows of the slots' tables by their indices."""
        table = self._table
        first = slots * (table.shape[1] * table.shape[2])
        return table.reshape(-1, table.shape[3]).take(rows + first, axis=0)

    def follow(self, slots: NDArray[Any], parts: Intervals) -> None:
        """Apply accepted proposals, one per slot."""
        (real,) = (parts.edit != NOTHING).nonzero()
        slots, parts = slots[real], parts.of(real)
        if not slots.size:
            return
        changes = changes_of(self.trees.lanes(slots), parts)
        if self._only_trees and slots.size >= MANY and self._table[0, 0].size <= SMALL:
            follow(self.trees, slots, parts, changes)
            self._remake(slots)
            return
        outer, inner = self._shifts(slots, parts)
        for index, (slot, change) in enumerate(zip(slots.tolist(), changes, strict=True)):
            if change.runs:
                _take_along(self._levels_of[slot], change, outer[index], inner[index])
        follow(self.trees, slots, parts, changes)

    def _remake(self, slots: NDArray[Any]) -> None:
        """Compute all rows of some slots from their trees, for all of them at once."""
        table = self._table[slots]
        table[:, 0] = scores_of(self.trees.start[slots], self.trees.above[slots], table[:, -1])
        renew([table[:, level].swapaxes(0, 1) for level in range(self._levels)], 0, table.shape[2])
        self._table[slots] = table


def scores_of(start: Positions, above: Positions, weights: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the scores at all positions, (slots, nodes, columns): sums of weights over the ancestors.

    Each pass doubles the number of ancestors whose weights are summed: one, two, four, ...
    """
    row = np.arange(len(weights))[:, None]
    label = np.empty_like(start)
    label[row, start] = np.arange(start.shape[1])
    scores = weights[row, label]
    while above.any():
        scores = scores + scores[row, above]
        above = above[row, above]
    return scores


def _take_along(
    levels: Sequence[NDArray[np.int32]],  # IN OUT (nodes, columns) each
    change: Change,
    outer: NDArray[np.int32],
    inner: NDArray[np.int32],
) -> None:
    """Move scores with their positions, shift them, and recompute the maxima that depend on them."""
    scores, start, stop = levels[0], change.runs[0][0], change.runs[-1][1]
    old = scores[start:stop].copy() if change.adopted else scores[start:stop]  # else nothing moves
    for first, last, target, shift in change.runs:
        rows, goal = old[first - start : last - start], scores[target : target + last - first]
        if shift == OUTER:
            np.add(rows, outer, goal)
        elif shift == MINUS_OUTER:
            np.subtract(rows, outer, goal)
        elif shift == INNER:
            np.add(rows, inner, goal)
        else:
            goal[...] = rows
    if change.adopted or change.runs[1][0] - change.runs[0][1] < WORTH_A_GAP:
        renew(levels, start, stop)
    else:
        for first, last, _, _ in change.runs:
            renew(levels, first, last)
