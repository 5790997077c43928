"""Rebuild: after accepted moves, shift the moved scores and renew the maxima of the blocks that changed."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.accepted import Runs
from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.trees import Numbers, Trees

Scores = NDArray[np.int32]

LOW = -(2**30)
"""Below any score, and still so, and still an int32, after any shift: scores and shifts are within 2^30."""

CHUNK_BYTES = 2**20
"""Blocks are worked on in groups that fit in a level 2 cache."""


class Tables:
    """Scores by place, and maxima over windows, blocks and runs of blocks, as layout.py has them.

    Attributes:
        rows: (rows, cells) int32.
    """

    def __init__(
        self,
        layout: Layout,
        weights: Scores,  # IN (labels, cells): what each node adds; zeros for the root
    ) -> None:
        self._layout = layout
        self.rows = np.zeros((layout.rows, weights.shape[1]), dtype=np.int32)
        self.rows[layout.prefix : layout.prefix + layout.places + 1] = LOW
        self.rows[layout.low] = LOW
        self.rows[layout.weights : layout.low] = weights
        self._by_row = as_items(self.rows)
        self._by_block = [self._blocks_of(start) for start in range(0, layout.runs - 1, layout.places)]
        level = layout.slots * layout.blocks
        ends = [layout.runs + number * level for number in range(layout.levels + 1)]
        self._runs = [self.rows[start:stop] for start, stop in pairwise(ends)]
        self._changed = np.zeros(level, dtype=np.bool_)
        block_bytes = self.rows[0].nbytes << layout.block_bits
        self._chunk = max(1, CHUNK_BYTES // (4 * block_bytes))

    def _blocks_of(self, start: int) -> NDArray[Any]:
        """One section indexed by place, a block an item."""
        section = self.rows[start : start + self._layout.places]
        return as_items(section.reshape(self._layout.slots * self._layout.blocks, -1))

    def fill(
        self,
        trees: Trees,
        used: int,  # IN slots in use, the first ones
    ) -> None:
        """All tables from the trees alone."""
        layout = self._layout
        number = np.arange(used)
        place = number * layout.positions
        self.rows[place] = 0
        by_position = trees.order.reshape(layout.slots, layout.positions)[:used, : layout.labels].T
        row_above = trees.nodes.take(by_position + trees.up)
        weight = by_position - number * layout.labels + layout.weights
        for position in range(1, layout.labels):
            score = self.rows.take(row_above[position], axis=0)
            score += self.rows.take(weight[position], axis=0)
            self._by_row[place + position] = as_items(score)
        self._renew(np.arange(used * layout.blocks), number)

    def rebuild(
        self,
        runs: Runs,
        slots: Numbers,  # IN (changed,): the slots where the runs are
    ) -> None:
        """Put the runs in their new places, shifted."""
        shift = self.rows.take(runs.plus, axis=0)
        shift -= self.rows.take(runs.minus, axis=0)
        moved = self.rows.take(runs.source, axis=0)
        moved += shift.take(runs.number, axis=0)
        self._by_row[runs.target] = as_items(moved)
        self._changed[runs.target >> self._layout.block_bits] = True
        changed = np.flatnonzero(self._changed)
        self._changed[changed] = False
        self._renew(changed, slots)

    def _renew(self, blocks: Numbers, slots: Numbers) -> None:
        for start in range(0, len(blocks), self._chunk):
            self._renew_blocks(blocks[start : start + self._chunk])
        self._renew_runs(slots)

    def _renew_blocks(self, blocks: Numbers) -> None:
        """Windows, suffixes and prefixes inside some blocks, from the scores."""
        *window_items, suffix_items, prefix_items = self._by_block
        size = 1 << self._layout.block_bits
        window = as_scores(window_items[0].take(blocks), size)
        suffix, prefix = np.empty_like(window), np.empty_like(window)
        prefix[:, 0] = LOW
        for level, items in enumerate(window_items):
            half, length = 1 << level >> 1, 1 << level
            if level:
                shorter, window = window, np.empty_like(window)
                valid = size - length + 1
                np.maximum(shorter[:, :valid], shorter[:, half : half + valid], out=window[:, :valid])
                items[blocks] = as_items(window)
            np.maximum(window[:, :1], window[:, :length], out=prefix[:, length : 2 * length])
            longest = slice(size - 2 * length, size - length + 1)
            np.maximum(window[:, longest], window[:, longest.stop - 1 : longest.stop], out=suffix[:, longest])
        suffix_items[blocks] = as_items(suffix)
        prefix_items[blocks] = as_items(prefix)
        as_items(self._runs[0])[blocks] = as_items(np.ascontiguousarray(suffix[:, 0]))

    def _renew_runs(self, slots: Numbers) -> None:
        """Maxima over runs of two and more blocks of some slots, from those of single blocks."""
        blocks = self._layout.blocks
        if len(self._runs) == 1:
            return
        run = as_scores(self._slots_of(0).take(slots), blocks)
        for level in range(1, len(self._runs)):
            half = 1 << level >> 1
            valid = blocks - 2 * half + 1
            shorter, run = run, np.empty_like(run)
            np.maximum(shorter[:, :valid], shorter[:, half : half + valid], out=run[:, :valid])
            self._slots_of(level)[slots] = as_items(run)

    def _slots_of(self, level: int) -> NDArray[Any]:
        """The maxima over runs of 2^level blocks, a slot an item."""
        return as_items(self._runs[level].reshape(self._layout.slots, -1))


def as_items(array: NDArray[Any]) -> NDArray[Any]:
    """(items, …) as (items,), the same memory: to write items at an array of numbers is far faster so."""
    return array.reshape(-1).view(np.dtype((np.void, array[0].nbytes)))


def as_scores(items: NDArray[Any], rows: int) -> Scores:
    """Items of `rows` rows each as (items, rows, cells)."""
    return items.view(np.int32).reshape(len(items), rows, -1)
