"""Maximum over a range of positions, as that of a few rows of the slot's tables."""

from functools import cache
from typing import Any

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import block_at, row_at
from syclade.kernels.target import address, choose, control, device_function, equal, maximum

_ONE = control(1)


@cache
def make_range_maximum(form: Form) -> tuple[Any, Any, Any]:
    """Return the device functions (range_rows, take_range, range_of_cell)."""
    rows = make_rows(form)
    take_row, raise_by_row = rows.take_row, rows.raise_by_row

    @device_function
    def range_rows(
        slot,  # IN places
        start,  # IN control: first position
        stop,  # IN control: end of the positions, > start
    ):
        """Return (mask: one block; first row; last row; start and end of the part between), all control.

        The part between consists of positions if all are in one block, else of whole blocks.
        """
        places, here, base = slot.given.places, slot.here, slot.base
        last = stop - _ONE
        low = block_at(places, base + address(start))
        high = block_at(places, base + address(last))
        one_block = equal(low, high)
        first_row = row_at(places, base + address(start)) + (here.layout.suffix & ~one_block)
        last_row = row_at(places, base + address(last)) + (here.layout.prefix & ~one_block)
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
        slot,  # IN tables, places
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        start,  # IN control: first position
        stop,  # IN control: end of the positions, > start
    ):
        """Compute best = the maximum over positions start … stop-1."""
        given, here = slot.given, slot.here
        one_block, first_row, last_row, inner, end_inner = range_rows(slot, start, stop)
        take_row(best, given.tables, column, first_row)
        raise_by_row(best, given.tables, column, last_row)
        for between in range(inner, end_inner):
            other = control(between)
            place = row_at(given.places, slot.base + address(other))
            raise_by_row(
                best,
                given.tables,
                column,
                choose(one_block, place, here.layout.top + other * here.sizes.cells),
            )

    @device_function
    def range_of_cell(
        slot,  # IN tables, places
        at,  # IN address: the cell in the first row of the slot's tables
        one_block,  # IN control: result of `range_rows`: mask, all in one block
        first_row,  # IN control: likewise, first row
        last_row,  # IN control: likewise, last row
        inner,  # IN control: likewise, start of the part between
        end_inner,  # IN control: likewise, end of the part between
    ):
        """Return the maximum for one cell of the lane (int32)."""
        given, here = slot.given, slot.here
        best = maximum(given.tables[at + address(first_row)], given.tables[at + address(last_row)])
        for between in range(inner, end_inner):
            other = control(between)
            place = row_at(given.places, slot.base + address(other))
            row = choose(one_block, place, here.layout.top + other * here.sizes.cells)
            best = maximum(best, given.tables[at + address(row)])
        return best

    return range_rows, take_range, range_of_cell
