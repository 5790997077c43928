"""The tables of some slots: scores of all columns at all nodes, in preorder, and their range maxima."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.changes import INNER, MINUS_OUTER, OUTER, Change, changes_of, follow
from syclade.fallback.chain.intervals import A, B, C, D, Intervals, intervals_of
from syclade.fallback.chain.maxima import Lookup, levels_of, renew
from syclade.fallback.chain.parts import NOTHING, Proposals
from syclade.fallback.chain.trees import Lanes, Trees

Keep: TypeAlias = Callable[[slice, NDArray[Any]], NDArray[Any]]
"""From (which of the lanes, their scores at all nodes) to what is kept of them, (lanes, columns)."""

CHUNK_BYTES = 2**20
"""Lanes are scored in groups whose rows fit in a level 2 cache."""


class Tables:
    """What follows from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, nodes, columns) int32: what each node adds; 0 for the root.
    """

    def __init__(self, parent: NDArray[np.int32], weights: NDArray[np.int32]) -> None:
        self.trees = Trees(parent)
        slots, nodes, columns = weights.shape
        self._levels = levels_of(nodes)
        self._lookup = Lookup(nodes)
        # A slot's rows: the levels of maxima, the scores first, and the weights by label.
        self._table = np.empty((slots, self._levels + 1, nodes, columns), dtype=np.int32)
        self._table[:, -1] = weights
        self._table[:, 0] = scores_of(self.trees, weights)
        for table in self._table:
            renew(table[:-1], 0, nodes)

    @staticmethod
    def slot_bytes(nodes: int, columns: int) -> int:
        """Memory that the tables of a slot take."""
        return 4 * columns * nodes * (levels_of(nodes) + 1)

    @property
    def cost_of_best(self) -> float:
        """Microseconds for the best nodes after one proposal, about."""
        return 0.3 + 0.006 * self._table.shape[3]

    @property
    def cost_of_all(self) -> float:
        """Microseconds for the scores at all nodes after one proposal, about."""
        return 3 + 0.005 * self._table.shape[2] * self._table.shape[3]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self._table.nbytes + self.trees.nbytes

    def replace(self, slots: NDArray[Any], others: "Tables") -> None:
        """Put other tables in some slots."""
        self._table[slots] = others._table
        self.trees.replace(slots, others.trees)

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """The parent vectors of some slots, (slots, nodes)."""
        return self.trees.parents(slots)

    def lanes(self, slots: NDArray[Any]) -> Lanes:
        """The trees as lanes in these slots see them."""
        return self.trees.lanes(slots)

    def prepare(self, lanes: Lanes, proposals: Proposals) -> Intervals:
        """What the methods below want of some lanes' proposals."""
        return intervals_of(lanes, proposals, self._levels * self.trees.nodes)

    def best_after(self, lanes: Lanes, parts: Intervals) -> NDArray[np.int32]:
        """Every column's score at its best node after the proposals, (lanes, columns)."""
        best = np.empty((len(lanes.slots), self._table.shape[3]), dtype=np.int32)
        step = max(1, CHUNK_BYTES // (14 * best.itemsize * best.shape[1]))
        for at in range(0, len(best), step):
            chunk = slice(at, at + step)
            self._best(lanes.slots[chunk], parts.of(chunk), best[chunk])
        return best

    def _best(self, slots: NDArray[Any], parts: Intervals, best: NDArray[np.int32]) -> None:
        cuts = parts.cuts
        rows = np.concatenate((*self._lookup.rows(cuts[:-1], cuts[1:]), parts.rows))
        found = self._rows(slots, rows)
        outer, inner = found[10], found[12]
        outer -= found[11]
        inner -= found[13]
        intervals = np.maximum(found[:5], found[5:10], out=found[:5])
        intervals[A] += outer
        intervals[B] += inner
        # Where c to d is empty there is the root's row: it must not be shifted.
        outer *= np.where(parts.related, cuts[C] < cuts[D], -1).astype(np.int32)[:, None]
        intervals[C] += outer
        np.maximum.reduce(intervals, axis=0, out=best)

    def all_after(self, lanes: Lanes, parts: Intervals, keep: Keep) -> NDArray[Any]:
        """What is kept of every column's scores at all nodes after the proposals, (lanes, columns)."""
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
        """The outer and the inner shifts, (lanes, columns) each."""
        rows = self._rows(slots, parts.rows)
        return rows[0] - rows[1], rows[2] - rows[3]

    def _rows(self, slots: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int32]:
        """Rows of slots' tables by their numbers."""
        table = self._table
        first = slots * (table.shape[1] * table.shape[2])
        return table.reshape(-1, table.shape[3]).take(rows + first, axis=0)

    def follow(self, slots: NDArray[Any], parts: Intervals) -> None:
        """Trees take the proposals, one a slot."""
        (real,) = (parts.edit != NOTHING).nonzero()
        slots, parts = slots[real], parts.of(real)
        if not slots.size:
            return
        outer, inner = self._shifts(slots, parts)
        changes = changes_of(self.trees.lanes(slots), parts)
        for index, (slot, change) in enumerate(zip(slots.tolist(), changes, strict=True)):
            if change.runs:
                _take_along(self._table[slot, :-1], change, outer[index], inner[index])
        follow(self.trees, slots, parts, changes)


def scores_of(trees: Trees, weights: NDArray[np.int32]) -> NDArray[np.int32]:
    """The scores at all positions, (slots, nodes, columns): sums of weights over the ancestors.

    The weights of ever more ancestors are added: of one, two, four, ...
    """
    row = np.arange(len(weights))[:, None]
    label = np.empty_like(trees.start)
    label[row, trees.start] = np.arange(trees.nodes)
    scores, above = weights[row, label], trees.above
    while above.any():
        scores = scores + scores[row, above]
        above = above[row, above]
    return scores


def _take_along(
    levels: NDArray[np.int32],  # IN OUT (levels, nodes, columns)
    change: Change,
    outer: NDArray[np.int32],
    inner: NDArray[np.int32],
) -> None:
    """Scores go where their positions go, shifted, and the maxima that they have a part in are made anew."""
    scores, start, stop = levels[0], change.runs[0][0], change.runs[-1][1]
    old = scores[start:stop].copy()
    for first, last, target, shift in change.runs:
        rows = old[first - start : last - start]
        goal = scores[target : target + last - first]
        if shift == OUTER:
            np.add(rows, outer, out=goal)
        elif shift == MINUS_OUTER:
            np.subtract(rows, outer, out=goal)
        elif shift == INNER:
            np.add(rows, inner, out=goal)
        else:
            goal[...] = rows
    renew(levels, start, stop)
