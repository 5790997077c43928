"""Rebuild: after an accepted edit, shift the moved rows and renew the maxima of the blocks that changed.

Every lane works on its own cells alone, so no lane has to wait for others.
"""

from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.renew import make_renew
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import (
    address,
    choose,
    control,
    device_function,
    equal,
    greater,
    less,
    lesser,
    private_array,
)

_ZERO = control(0)
_ONE = control(1)


def make_rebuild(form: Form, extras: Extras) -> Any:
    """Return the device function `rebuild`."""
    take_shift = make_rows(form).take_shift
    renew_block, renew_around = make_renew(form)
    shift_row, before_shift, after_shift = extras.shift_row, extras.before_shift, extras.after_shift
    may_have_lost = extras.may_have_lost
    rounds, lanes = form.rounds, form.lanes

    @device_function
    def shift_run(
        slot,  # IN places; IN OUT tables and their extras
        panel,  # IN integer: the panel
        shift,  # IN (cells of a panel / lanes,) int32, private
        start,  # IN control: start of the run
        stop,  # IN control: its end
    ):
        """Add a shift to the score rows of a run of positions."""
        for place in range(start, stop):
            shift_row(shift, slot, panel, row_at(slot.given.places, slot.base + address(place)))

    @device_function
    def rebuild(
        slot,  # IN the tree after the edit; IN OUT tables
        changes,  # IN Changes
    ):
        """Shift the moved rows, then renew the blocks with changed positions."""
        given, here = slot.given, slot.here
        runs, touched = changes.runs, changes.touched
        shift = private_array(rounds, np.int32)
        other_shift = private_array(rounds, np.int32)
        blocks = ((here.tree_nodes - _ONE) >> here.sizes.block_bits) + _ONE
        first = touched.end_block_1 - touched.block_1
        second = greater(touched.end_block_2 - touched.block_2, _ZERO)
        parted = equal(touched.change_1, touched.end_change_1)  # a run has left block 1 and joined block 2
        for panel in range(here.sizes.panels):
            column = here.table + address(panel * rounds * lanes) + here.lane
            known = before_shift(slot, panel, changes.climbs)
            # Copied first: the rows that define the shifts may be shifted themselves.
            take_shift(shift, given.tables, column, runs.plus_1, runs.minus_1)
            take_shift(other_shift, given.tables, column, runs.plus_2, runs.minus_2)
            shift_run(slot, panel, shift, runs.start_1, runs.stop_1)
            shift_run(slot, panel, shift, runs.start_2, runs.stop_2)
            shift_run(slot, panel, other_shift, runs.start_3, runs.stop_3)
            after_shift(slot, panel, changes.climbs, known)
            first_block, last_block = blocks, -_ONE
            for count in range(first + second):
                # One loop for both ranges of blocks: a second copy would double the compile time of the code.
                one = less(control(count), first)
                number = control(count) + choose(one, touched.block_1, touched.block_2 - first)
                start = choose(one, touched.change_1, touched.change_2)
                stop = choose(one, touched.end_change_1, touched.end_change_2)
                changed = -_ONE
                if one & parted != _ZERO:
                    changed = may_have_lost(slot, column, number, start, changes.climbs, shift)
                if changed != _ZERO:
                    changed = renew_block(slot, column, number, start, stop, parted & ~one)
                first_block = choose(changed, lesser(first_block, number), first_block)
                last_block = choose(changed, greater(last_block, number), last_block)
            if first_block <= last_block:
                renew_around(slot, column, first_block, last_block, blocks)

    return rebuild
