"""Renew: running maxima of the blocks that changed, and over all earlier and all later blocks.

Every lane works on its own cells alone, so no lane has to wait for others.
"""

from functools import cache
from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import (
    address,
    choose,
    control,
    device_function,
    greater,
    less,
    lesser,
    private_array,
)

_ONE = control(1)


@cache
def make_renew(form: Form) -> tuple[Any, Any]:
    """Return the device functions (renew_block, renew_around)."""
    rows = make_rows(form)
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    put_row, differs = rows.put_row, rows.differs
    rounds, broad = form.rounds, form.broad

    @device_function
    def renew_block(
        slot,  # IN places, block_start; IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        number,  # IN control: the block
        start,  # IN control: start of the positions that changed; there are none where a run has left
        stop,  # IN control: their end
        joined,  # IN control: mask: the changed positions have joined the block, which is unchanged otherwise
    ):
        """Renew the maxima of one block; return a mask: whether that of the whole block changed."""
        given, here, base = slot
        best = private_array(rounds, np.int32)
        prefix, suffix = here.layout.prefix, here.layout.suffix
        at = base + address(number)
        first = control(given.block_start[at])
        last = control(given.block_start[at + address(1)]) - _ONE
        # From the end of the block to its start: a maximum that did not change leaves all others unchanged.
        place = greater(lesser(stop - _ONE, last), first)
        later = lesser(place + _ONE, last)
        nearest = row_at(given.places, base + address(later))
        take_row(best, given.tables, column, choose(less(place, last), suffix + nearest, nearest))
        # Joined positions that do not raise the maximum after them raise none before them.
        enough = choose(joined & less(place, last), start, -_ONE)
        going = _ONE
        while going != control(0):
            node = row_at(given.places, base + address(place))
            raise_by_row(best, given.tables, column, node)
            changed = replace_row(best, given.tables, column, suffix + node)
            going = less(first, place) & (changed | ~less(place, start))
            if broad:
                if place == enough:
                    going = going & differs(best, given.tables, column, suffix + nearest)
            place = place - _ONE
        # From its start to its end: likewise.
        place = lesser(greater(start, first), last)
        earlier = greater(place - _ONE, first)
        nearest = row_at(given.places, base + address(earlier))
        take_row(best, given.tables, column, choose(less(first, place), prefix + nearest, nearest))
        enough = choose(joined & less(first, place), stop - _ONE, -_ONE)
        changed = _ONE
        going = _ONE
        while going != control(0):
            node = row_at(given.places, base + address(place))
            raise_by_row(best, given.tables, column, node)
            changed = replace_row(best, given.tables, column, prefix + node) | less(place, stop)
            if broad:
                if place == enough:
                    changed = differs(best, given.tables, column, prefix + nearest)
            going = less(place, last) & changed
            place = place + _ONE
        if changed != control(0):
            changed = replace_row(best, given.tables, column, here.layout.top + number * here.sizes.cells)
        return changed

    @device_function
    def renew_around(
        slot,  # IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        first,  # IN control: first block whose maximum changed
        last,  # IN control: last block whose maximum changed
        blocks,  # IN control: number of blocks
    ):
        """Renew the maxima over all earlier and all later blocks, as far as they change.

        If there are few blocks, renew all.
        """
        tables, here = slot.given.tables, slot.here
        best = private_array(rounds, np.int32)
        top, before, after = here.layout.top, here.layout.before, here.layout.after
        width, most_blocks = here.sizes.cells, here.sizes.blocks
        if here.variant.few != control(0):
            take_row(best, tables, column, before)
            for number in range(most_blocks - 1):
                raise_by_row(best, tables, column, top + control(number) * width)
                put_row(best, tables, column, before + control(number + 1) * width)
            take_row(best, tables, column, after + control(most_blocks - 1) * width)
            for done in range(most_blocks - 1):
                raise_by_row(best, tables, column, top + control(most_blocks - 1 - done) * width)
                put_row(best, tables, column, after + control(most_blocks - 2 - done) * width)
            return
        take_row(best, tables, column, before + first * width)
        number = first
        going = less(number, blocks - _ONE)
        while going != control(0):
            raise_by_row(best, tables, column, top + number * width)
            number = number + _ONE
            changed = replace_row(best, tables, column, before + number * width)
            going = less(number, blocks - _ONE) & (changed | ~less(last, number))
        take_row(best, tables, column, after + last * width)
        number = last
        going = less(control(0), number)
        while going != control(0):
            raise_by_row(best, tables, column, top + number * width)
            number = number - _ONE
            changed = replace_row(best, tables, column, after + number * width)
            going = less(control(0), number) & (changed | ~less(number, first))

    return renew_block, renew_around
