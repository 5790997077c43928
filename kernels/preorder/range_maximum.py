"""The maximum over a range of positions, as that of a few rows of the slot's tables."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout
from syclade.kernels.preorder.places import block_at, row_at
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.uniform import choose, equal

_ONE = np.int64(1)


def make_range_maximum(nodes: int, cells: int, block: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (range_rows, take_range, range_of_cell)."""
    width = np.int64(cells)
    layout = make_layout(nodes, cells, block)
    prefix, suffix, top = np.int64(layout.prefix), np.int64(layout.suffix), np.int64(layout.top)
    rows = make_rows(cells, lanes)
    take_row, raise_by_row = rows.take_row, rows.raise_by_row

    @dpex.device_func
    def range_rows(
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64: where the slot's tree starts
        start,  # IN int64: positions
        stop,  # IN int64, > start
    ):
        """(mask: all in one block; first row; last row; what lies between, from … to), all int64.

        Between lie positions of the one block, or whole blocks.
        """
        last = stop - _ONE
        low = block_at(places, base + np.uint64(start))
        high = block_at(places, base + np.uint64(last))
        one_block = equal(low, high)
        first_row = row_at(places, base + np.uint64(start)) + (suffix & ~one_block)
        last_row = row_at(places, base + np.uint64(last)) + (prefix & ~one_block)
        return (
            one_block,
            first_row,
            last_row,
            choose(one_block, start, low) + _ONE,
            choose(one_block, last, high),
        )

    @dpex.device_func
    def take_range(
        best,  # OUT (cells of a panel / lanes,) int32, private
        tables,  # IN (slots, rows, cells) int32, flat
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        start,  # IN int64: positions
        stop,  # IN int64, > start
    ):
        """best = the maximum over positions start … stop-1."""
        one_block, first_row, last_row, inner, end_inner = range_rows(places, base, start, stop)
        take_row(best, tables, column, first_row)
        raise_by_row(best, tables, column, last_row)
        for between in range(inner, end_inner):
            other = np.int64(between)
            place = row_at(places, base + np.uint64(other))
            raise_by_row(best, tables, column, choose(one_block, place, top + other * width))

    @dpex.device_func
    def range_of_cell(
        tables,  # IN (slots, rows, cells) int32, flat
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64
        at,  # IN uint64: the cell in the first row of the slot's tables
        one_block,  # IN int64: as `range_rows` has them
        first_row,
        last_row,
        inner,
        end_inner,
    ):
        """The maximum for one cell of the lane (int32)."""
        best = max(tables[at + np.uint64(first_row)], tables[at + np.uint64(last_row)])
        for between in range(inner, end_inner):
            other = np.int64(between)
            place = row_at(places, base + np.uint64(other))
            best = max(best, tables[at + np.uint64(choose(one_block, place, top + other * width))])
        return best

    return range_rows, take_range, range_of_cell
