"""Renew: running maxima of the blocks that changed, and over all earlier and all later blocks.

Every lane works on its own cells alone, so nothing has to wait for other lanes.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.layout import count_blocks, make_layout, panels_of
from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.rows import BROAD, make_rows
from syclade.kernels.preorder.uniform import any_lane, choose, greater, less, lesser

FEW_BLOCKS = 6
"""So many maxima over blocks are renewed sooner than it is found out which of them change."""

_ONE = np.int64(1)


def make_renew(nodes: int, cells: int, block: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (renew_block, may_have_lost, renew_around)."""
    layout = make_layout(nodes, cells, block)
    prefix, suffix = np.int64(layout.prefix), np.int64(layout.suffix)
    top, before, after = np.int64(layout.top), np.int64(layout.before), np.int64(layout.after)
    rows = make_rows(cells, lanes)
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    put_row, differs = rows.put_row, rows.differs
    broad = int(cells >= BROAD)
    rounds = panels_of(cells, lanes).rounds
    width = np.int64(cells)
    most_blocks = count_blocks(nodes, block)
    few = int(most_blocks <= FEW_BLOCKS)

    @dpex.device_func
    def renew_block(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        number,  # IN int64: the block
        start,  # IN int64: positions that changed; none where a run has left
        stop,
        joined,  # IN int64: mask: the changed positions have come to the block, which is else as it was
    ):
        """Maxima of one block; a mask: did that of the whole block change?"""
        best = kapi.PrivateArray(rounds, np.int32)
        at = base + np.uint64(number)
        first = np.int64(block_start[at])
        last = np.int64(block_start[at + np.uint64(1)]) - _ONE
        # From behind the block to its start: a maximum that did not change leaves all others as they are.
        place = greater(lesser(stop - _ONE, last), first)
        later = lesser(place + _ONE, last)
        nearest = row_at(places, base + np.uint64(later))
        take_row(best, tables, column, choose(less(place, last), suffix + nearest, nearest))
        # Newcomers that do not raise what lies behind them raise nothing that lies before them.
        enough = choose(joined & less(place, last), start, -_ONE)
        going = _ONE
        while going != np.int64(0):
            node = row_at(places, base + np.uint64(place))
            raise_by_row(best, tables, column, node)
            changed = replace_row(best, tables, column, suffix + node)
            going = less(first, place) & (changed | ~less(place, start))
            if broad:
                if place == enough:
                    going = going & differs(best, tables, column, suffix + nearest)
            place = place - _ONE
        # From its start on: likewise.
        place = lesser(greater(start, first), last)
        earlier = greater(place - _ONE, first)
        nearest = row_at(places, base + np.uint64(earlier))
        take_row(best, tables, column, choose(less(first, place), prefix + nearest, nearest))
        enough = choose(joined & less(first, place), stop - _ONE, -_ONE)
        changed = _ONE
        going = _ONE
        while going != np.int64(0):
            node = row_at(places, base + np.uint64(place))
            raise_by_row(best, tables, column, node)
            changed = replace_row(best, tables, column, prefix + node) | less(place, stop)
            if broad:
                if place == enough:
                    changed = differs(best, tables, column, prefix + nearest)
            going = less(place, last) & changed
            place = place + _ONE
        if changed != np.int64(0):
            changed = replace_row(best, tables, column, top + number * width)
        return changed

    @dpex.device_func
    def may_have_lost(
        tables,  # IN (slots, rows, cells) int32, flat
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        column,  # IN uint64
        number,  # IN int64: a block that a subtree has left
        gap,  # IN int64: the position that followed it
        at,  # IN int64: row of the subtree's maxima, after its shift
        shift,  # IN (cells of a panel / lanes,) int32, private
    ):
        """Mask: may any maximum of the block have been one of the subtree's?"""
        block = base + np.uint64(number)
        first = np.int64(block_start[block])
        last = np.int64(block_start[block + np.uint64(1)]) - _ONE
        place = base + np.uint64(lesser(gap, last))
        earlier = np.uint64(prefix + row_at(places, base + np.uint64(greater(gap - _ONE, first))))
        later = np.uint64(suffix + row_at(places, place))
        subtree_at = column + np.uint64(at)
        earlier_at, later_at = column + earlier, column + later
        most = np.int32(-1)
        for part in range(rounds):
            cell = np.uint64(part * lanes)
            others = min(tables[earlier_at + cell], tables[later_at + cell])
            most = max(most, np.int32(tables[subtree_at + cell] - shift[part] - others))
        return any_lane(most > np.int32(0)) | ~less(first, gap) | less(last, gap)

    @dpex.device_func
    def renew_around(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        column,  # IN uint64
        first,  # IN int64: the first and the last block whose maximum changed
        last,
        blocks,  # IN int64: how many there are
    ):
        """Maxima over all earlier and all later blocks, as far as they change; of few blocks, all."""
        best = kapi.PrivateArray(rounds, np.int32)
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

    return renew_block, may_have_lost, renew_around
