"""Score change: score mapping for wide tables, where a move changes the best scores of few cells only.

One pass over the sketches of four to six rows finds the groups of cells, as many as lanes, in which a best
score may change; only these are looked at further. With cells of like columns side by side
(`host/column_order.py`) they are few.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.intervals import third_interval
from syclade.kernels.preorder.layout import make_layout, panels_of
from syclade.kernels.preorder.places import block_at, row_at
from syclade.kernels.preorder.range_maximum import make_range_maximum
from syclade.kernels.preorder.shapes import ONE_IN_THE_OTHER, ONE_INTERVAL
from syclade.kernels.preorder.sketches import make_sketches
from syclade.kernels.preorder.uniform import equal
from syclade.kernels.proposal import SWAP_LABELS
from syclade.kernels.sub_group import in_step
from syclade.kernels.words import popcount

_LABELS = np.int64(SWAP_LABELS)
_NONE = np.uint64(0)
_ONE = np.int64(1)
_WORD_BITS = 32


def make_score_change(nodes: int, cells: int, block: int, lanes: int, weighted: int) -> Callable[..., Any]:
    """Device function: the lane's share of what the move adds to the score."""
    width = np.int64(cells)
    layout = make_layout(nodes, cells, block)
    subtree = np.int64(layout.subtree)
    before, prefix = np.int64(layout.before), np.int64(layout.prefix)
    after, suffix = np.int64(layout.after), np.int64(layout.suffix)
    may_change = make_sketches(cells, lanes).may_change
    range_rows, _take_range, range_of_cell = make_range_maximum(nodes, cells, block, lanes)
    panels, rounds = panels_of(cells, lanes)
    panels_a_word = _WORD_BITS // rounds
    words = -(-panels // panels_a_word)

    @dpex.device_func
    def cell_of(
        tables,  # IN (slots, rows, cells) int32, flat
        at,  # IN uint64: a cell in the first row of the slot's tables
        row,  # IN int64: where it starts
    ):
        """The cell's score in a row."""
        return tables[at + np.uint64(row)]

    @dpex.device_func
    def shift_of(
        tables,  # IN (slots, rows, cells) int32, flat
        at,  # IN uint64
        plus,  # IN int64: rows whose difference is the shift
        minus,
    ):
        """The cell's shift (int32)."""
        return np.int32(cell_of(tables, at, plus) - cell_of(tables, at, minus))

    @dpex.device_func
    def all_lanes(
        flagged,  # IN (slots, cells) uint32, flat
        base,  # IN uint64: where the word's flags start, one a lane
    ):
        """The flags that any lane has (uint64)."""
        found = np.uint32(0)
        for other in range(lanes):
            found = np.uint32(found | flagged[base + np.uint64(other)])
        return np.uint64(found)

    @dpex.device_func
    def score_change(
        tables,  # IN (slots, rows, cells) int32, flat
        sketch,  # IN (slots, sketched, cells) int16, flat
        places,  # IN (slots, nodes) int64, flat
        flagged,  # SCRATCH (slots, cells) uint32, flat
        base,  # IN uint64: where the slot's tree starts
        table,  # IN uint64: where the slot's tables start
        sketch_table,  # IN uint64: where the slot's sketches start
        flags_base,  # IN uint64: where the slot's flags start
        multiplicity,  # IN (cells,) int64
        kind,  # IN int64: the move
        spare,  # IN int64: `slack_of_equals` of the weights
        shape,  # IN int64: as in shapes.py, like all intervals and shifts
        a1,
        b1,
        a2,
        b2,
        end_first,
        end,
        plus_1,
        minus_1,
        plus_2,
        minus_2,
        lane,  # IN uint64
    ):
        """Sum over the lane's columns of multiplicity * (best score after the move - now) (int64)."""
        share = np.int64(0)
        left, right = base + np.uint64(a1 - _ONE), base + np.uint64(end)
        before_row, prefix_row = before + block_at(places, left) * width, prefix + row_at(places, left)
        after_row, suffix_row = after + block_at(places, right) * width, suffix + row_at(places, right)
        now_row = subtree + row_at(places, base)
        first = subtree + row_at(places, base + np.uint64(a1))
        second = subtree + row_at(places, base + np.uint64(a2))
        one_1, low_1, high_1, inner_1, end_1 = range_rows(places, base, a1, end_first)
        third, end_third, plus_3 = third_interval(shape, a1, b1, a2, b2, end_first, plus_1, minus_1)
        one_3, low_3, high_3, inner_3, end_3 = range_rows(places, base, third, end_third)
        # Of score rows, equal sketches do not say that they are equal.
        off = np.int32(equal(kind, _LABELS) & spare)
        for word in range(words):
            first_cell = np.uint64(word * panels_a_word * rounds * lanes) + lane
            count = min(np.int64(panels_a_word), np.int64(panels - word * panels_a_word))
            column = sketch_table + first_cell
            own = may_change(sketch, column, count, now_row, first, plus_1, minus_1, off)
            if shape != ONE_INTERVAL:
                others = may_change(sketch, column, count, now_row, second, plus_2, minus_2, off)
                own = np.uint32(own | others)
            flagged[flags_base + np.uint64(word * lanes) + lane] = own
        flags_base = in_step(flags_base)
        for word in range(words):
            first_cell = np.uint64(word * panels_a_word * rounds * lanes) + lane
            flags = all_lanes(flagged, flags_base + np.uint64(word * lanes))
            while flags != _NONE:
                group = popcount(~flags & (flags - np.uint64(1)))  # the lowest flag
                flags = flags & (flags - np.uint64(1))
                cell = first_cell + group * np.uint64(lanes)
                at = table + cell
                best = max(cell_of(tables, at, before_row), cell_of(tables, at, prefix_row))
                best = max(best, max(cell_of(tables, at, after_row), cell_of(tables, at, suffix_row)))
                moved = cell_of(tables, at, first)
                if shape == ONE_IN_THE_OTHER:
                    moved = range_of_cell(tables, places, base, at, one_1, low_1, high_1, inner_1, end_1)
                best = max(best, np.int32(moved + shift_of(tables, at, plus_1, minus_1)))
                if shape != ONE_INTERVAL:
                    moved = cell_of(tables, at, second)
                    best = max(best, np.int32(moved + shift_of(tables, at, plus_2, minus_2)))
                    moved = range_of_cell(tables, places, base, at, one_3, low_3, high_3, inner_3, end_3)
                    best = max(best, np.int32(moved + shift_of(tables, at, plus_3, minus_1)))
                change = np.int64(best) - np.int64(cell_of(tables, at, now_row))
                if weighted:
                    change = change * multiplicity[cell]
                share = share + change
        return share

    return score_change
