"""Exact score of a proposal that passes the screen.

Where the best score of a cell changes its octave, all terms are rounded anew, so all positions are read: for
the vectors of cells with such a cell alone.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Terms
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.totals import run_of
from syclade.kernels.preorder.screened.parts import proposed_at
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, any_lane, control, device_function

_ZERO = control(0)
_RUNS = 5


def make_exact(form: Form, terms: Terms) -> Any:
    """Return the device function `exact_share`.

    Args:
        form: form of the tables.
        terms: terms of the score.
    """
    lanes, lane_bits = form.lanes, control(form.lane_bits)
    form_of, term, of_sum = terms.form, terms.term, terms.of_sum

    @device_function
    def total_of(
        slot,  # IN tables, places
        at,  # IN address: the lane's cell in the first row of the slot's tables
        best,  # IN int32: the cell's best score after the proposal
        made,  # IN result of `terms.form`
        moved,  # IN Moved
    ):
        """Return the sum of the terms of all positions after the proposal (int32)."""
        given = slot.given
        total = np.int32(best - best)  # 0 in each lane
        for number in range(_RUNS):
            start, stop, plus, minus = run_of(moved, slot.here, control(number))
            shift = np.int32(given.tables[at + address(plus)] - given.tables[at + address(minus)])
            for place in range(start, stop):
                row = at + address(row_at(given.places, slot.base + address(place)))
                worth = np.int32(given.tables[row] + shift)
                total = np.int32(total + term(made, worth, best))
        return total

    @device_function
    def exact_share(
        slot,  # IN tables, places, multiplicity, proposed, the score's arguments
        moved,  # IN Moved
    ):
        """Return the lane's share of the score after the proposal (int64), once its bounds are in `proposed`.

        The bounds must be those with exact terms of shifted positions.
        """
        given, here = slot.given, slot.here
        made = form_of(given, here.number)
        width = address(here.sizes.cells)
        first = proposed_at(slot)
        share = np.int64(0)
        for part in range(here.sizes.cells >> lane_bits):
            cell = address(part * lanes)
            place = first + cell
            best, total = given.proposed[place], given.proposed[place + width]
            if any_lane(given.proposed[place + width + width] != np.int32(0)) != _ZERO:
                total = total_of(slot, here.table + cell + here.lane, best, made, moved)
            share = share + of_sum(made, best, total) * given.multiplicity[cell + here.lane]
        return share

    return exact_share
