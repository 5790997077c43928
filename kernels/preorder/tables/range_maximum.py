"""The maximum over a range of positions, as that of a few rows of the slot's tables."""

from functools import cache
from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import block_at, row_at
from syclade.kernels.target import choose, device_function, equal, maximum

_ONE = np.int64(1)


@cache
def make_range_maximum(form: Form) -> tuple[Any, Any, Any]:
    """Device functions (range_rows, take_range, range_of_cell)."""
    rows = make_rows(form)
    take_row, raise_by_row = rows.take_row, rows.raise_by_row

    @device_function
    def range_rows(
        places,  # IN (slots, nodes) int64, flat
        here,  # IN
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
        first_row = row_at(places, base + np.uint64(start)) + (here.layout.suffix & ~one_block)
        last_row = row_at(places, base + np.uint64(last)) + (here.layout.prefix & ~one_block)
        return (
            one_block,
            first_row,
            last_row,
            choose(one_block, start, low) + _ONE,
            choose(one_block, last, high),
        )

    @device_function
    def take_range(
        best,  # OUT (cells of a panel / lanes,) int32, private
        given,  # IN tables, places
        here,  # IN
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        start,  # IN int64: positions
        stop,  # IN int64, > start
    ):
        """best = the maximum over positions start … stop-1."""
        one_block, first_row, last_row, inner, end_inner = range_rows(given.places, here, base, start, stop)
        take_row(best, given.tables, column, first_row)
        raise_by_row(best, given.tables, column, last_row)
        for between in range(inner, end_inner):
            other = np.int64(between)
            place = row_at(given.places, base + np.uint64(other))
            raise_by_row(
                best,
                given.tables,
                column,
                choose(one_block, place, here.layout.top + other * here.sizes.cells),
            )

    @device_function
    def range_of_cell(
        given,  # IN tables, places
        here,  # IN
        base,  # IN uint64
        at,  # IN uint64: the cell in the first row of the slot's tables
        one_block,  # IN int64: as `range_rows` has them
        first_row,
        last_row,
        inner,
        end_inner,
    ):
        """The maximum for one cell of the lane (int32)."""
        best = maximum(given.tables[at + np.uint64(first_row)], given.tables[at + np.uint64(last_row)])
        for between in range(inner, end_inner):
            other = np.int64(between)
            place = row_at(given.places, base + np.uint64(other))
            row = choose(one_block, place, here.layout.top + other * here.sizes.cells)
            best = maximum(best, given.tables[at + np.uint64(row)])
        return best

    return range_rows, take_range, range_of_cell
