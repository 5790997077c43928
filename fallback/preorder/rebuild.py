"""Rebuild: after accepted moves, shift the moved scores and renew the maxima of the blocks that changed."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.runs import Runs
from syclade.fallback.preorder.trees import Numbers, Trees

Scores = NDArray[np.int32]
Items = NDArray[np.void]

LOW = -(2**30)
"""Below any score, and still so, and still an int32, after any shift: scores and shifts are within 2^30."""

CHUNK_BYTES = 2**20
"""Blocks are worked on in groups that fit in a level 2 cache."""


class Tables:
    """Scores by place, and maxima over windows of places and spans of blocks, as layout.py has them.

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
        self.rows[layout.low] = LOW
        self.rows[layout.weights : layout.low] = weights
        self._by_row = as_items(self.rows)
        # Sections with a block an item, by the windows' level; and with a slot an item, by the spans' level.
        self._windows = self._sections(0, layout.block_bits, layout.places, layout.slots * layout.blocks)
        blocks = layout.slots * layout.blocks
        self._spans = self._sections(layout.spans, layout.span_levels, blocks, layout.slots)
        self._block_maxima = as_items(self.rows[layout.spans : layout.spans + blocks])
        self._changed = np.zeros(blocks, dtype=np.bool_)
        block_bytes = self.rows[0].nbytes << layout.block_bits
        self._chunk = max(1, CHUNK_BYTES // (4 * block_bytes))

    def _sections(self, start: int, count: int, rows: int, items: int) -> list[Items]:
        """`count` sections of so many rows each, as so many items each."""
        stop = start + count * rows
        return [as_items(part.reshape(items, -1)) for part in np.split(self.rows[start:stop], count)]

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
        changed = self._changed.nonzero()[0]
        self._changed[changed] = False
        self._renew(changed, slots)

    def _renew(
        self,
        blocks: Numbers,  # IN (changed blocks,)
        slots: Numbers,  # IN (changed slots,)
    ) -> None:
        """All maxima of these blocks and slots, from the scores."""
        for start in range(0, len(blocks), self._chunk):
            self._renew_blocks(blocks[start : start + self._chunk])
        self._renew_spans(slots)

    def _renew_blocks(self, blocks: Numbers) -> None:
        """Windows inside some blocks, and the blocks' maxima, from the scores."""
        scores, *sections = self._windows
        window = self._scores(scores.take(blocks))
        for level, section in enumerate(sections):
            window = _doubled(window, 1 << level)
            section[blocks] = window.reshape(-1).view(section.dtype)
        half = 1 << self._layout.block_bits >> 1
        maxima = np.maximum(window[:: 2 * half], window[half :: 2 * half])
        self._block_maxima[blocks] = maxima.reshape(-1).view(self._block_maxima.dtype)

    def _renew_spans(self, slots: Numbers) -> None:
        """Spans of two and more blocks of some slots, from those of one."""
        single, *sections = self._spans
        span = self._scores(single.take(slots))
        for level, section in enumerate(sections):
            span = _doubled(span, 1 << level)
            section[slots] = span.reshape(-1).view(section.dtype)

    def _scores(self, items: Items) -> Scores:
        """Items as (rows, cells)."""
        return items.view(np.int32).reshape(-1, self.rows.shape[1])


def as_items(array: Scores) -> Items:
    """(items, …) as (items,), the same memory: to write items at an array of numbers is far faster so."""
    return array.reshape(-1).view(np.dtype((np.void, array[0].nbytes)))


def _doubled(
    window: Scores,  # IN (rows, cells): maxima over `length` rows from each one on
    length: int,
) -> Scores:
    """Maxima over twice as many rows, in one go over all rows: numpy is fast where nothing interrupts it.

    Where the rows of one block or slot end and the next ones begin, the result means nothing.
    """
    longer = np.empty_like(window)
    np.maximum(window[:-length], window[length:], out=longer[:-length])
    return longer
