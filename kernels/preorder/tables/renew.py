"""Renew: running maxima of the blocks that changed, and over all earlier and all later blocks.

Every lane works on its own cells alone, so nothing has to wait for other lanes.
"""

from functools import cache
from typing import Any

import numpy as np

from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import make_layout
from syclade.kernels.preorder.tables.rows import BROAD, make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import choose, device_function, greater, less, lesser, private_array

FEW_BLOCKS = 6
"""So many maxima over blocks are renewed sooner than it is found out which of them change."""

_ONE = np.int64(1)


@cache
def make_renew(shape: Shape) -> tuple[Any, Any]:
    """Device functions (renew_block, renew_around)."""
    layout = make_layout(shape)
    prefix, suffix = np.int64(layout.prefix), np.int64(layout.suffix)
    top, before, after = np.int64(layout.top), np.int64(layout.before), np.int64(layout.after)
    rows = make_rows(shape)
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    put_row, differs = rows.put_row, rows.differs
    broad = int(shape.cells >= BROAD)
    rounds = shape.rounds
    width = np.int64(shape.cells)
    most_blocks = shape.most_blocks
    few = int(most_blocks <= FEW_BLOCKS)

    @device_function
    def renew_block(
        given,  # IN places, block_start; IN OUT tables
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        number,  # IN int64: the block
        start,  # IN int64: positions that changed; none where a run has left
        stop,
        joined,  # IN int64: mask: the changed positions have come to the block, which is else as it was
    ):
        """Maxima of one block; a mask: did that of the whole block change?"""
        best = private_array(rounds, np.int32)
        at = base + np.uint64(number)
        first = np.int64(given.block_start[at])
        last = np.int64(given.block_start[at + np.uint64(1)]) - _ONE
        # From behind the block to its start: a maximum that did not change leaves all others as they are.
        place = greater(lesser(stop - _ONE, last), first)
        later = lesser(place + _ONE, last)
        nearest = row_at(given.places, base + np.uint64(later))
        take_row(best, given.tables, column, choose(less(place, last), suffix + nearest, nearest))
        # Newcomers that do not raise what lies behind them raise nothing that lies before them.
        enough = choose(joined & less(place, last), start, -_ONE)
        going = _ONE
        while going != np.int64(0):
            node = row_at(given.places, base + np.uint64(place))
            raise_by_row(best, given.tables, column, node)
            changed = replace_row(best, given.tables, column, suffix + node)
            going = less(first, place) & (changed | ~less(place, start))
            if broad:
                if place == enough:
                    going = going & differs(best, given.tables, column, suffix + nearest)
            place = place - _ONE
        # From its start on: likewise.
        place = lesser(greater(start, first), last)
        earlier = greater(place - _ONE, first)
        nearest = row_at(given.places, base + np.uint64(earlier))
        take_row(best, given.tables, column, choose(less(first, place), prefix + nearest, nearest))
        enough = choose(joined & less(first, place), stop - _ONE, -_ONE)
        changed = _ONE
        going = _ONE
        while going != np.int64(0):
            node = row_at(given.places, base + np.uint64(place))
            raise_by_row(best, given.tables, column, node)
            changed = replace_row(best, given.tables, column, prefix + node) | less(place, stop)
            if broad:
                if place == enough:
                    changed = differs(best, given.tables, column, prefix + nearest)
            going = less(place, last) & changed
            place = place + _ONE
        if changed != np.int64(0):
            changed = replace_row(best, given.tables, column, top + number * width)
        return changed

    @device_function
    def renew_around(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        column,  # IN uint64
        first,  # IN int64: the first and the last block whose maximum changed
        last,
        blocks,  # IN int64: how many there are
    ):
        """Maxima over all earlier and all later blocks, as far as they change; of few blocks, all."""
        best = private_array(rounds, np.int32)
        if few:
            take_row(best, tables, column, before)
            for number in range(most_blocks - 1):
                raise_by_row(best, tables, column, top + np.int64(number) * width)
                put_row(best, tables, column, before + np.int64(number + 1) * width)
            take_row(best, tables, column, after + np.int64(most_blocks - 1) * width)
            for done in range(most_blocks - 1):
                raise_by_row(best, tables, column, top + np.int64(most_blocks - 1 - done) * width)
                put_row(best, tables, column, after + np.int64(most_blocks - 2 - done) * width)
            return
        take_row(best, tables, column, before + first * width)
        number = first
        going = less(number, blocks - _ONE)
        while going != np.int64(0):
            raise_by_row(best, tables, column, top + number * width)
            number = number + _ONE
            changed = replace_row(best, tables, column, before + number * width)
            going = less(number, blocks - _ONE) & (changed | ~less(last, number))
        take_row(best, tables, column, after + last * width)
        number = last
        going = less(np.int64(0), number)
        while going != np.int64(0):
            raise_by_row(best, tables, column, top + number * width)
            number = number - _ONE
            changed = replace_row(best, tables, column, after + number * width)
            going = less(np.int64(0), number) & (changed | ~less(number, first))

    return renew_block, renew_around
