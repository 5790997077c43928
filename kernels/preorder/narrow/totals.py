"""Totals: terms of all attachments of each cell after a proposal, for a score that is not a maximum.

Every position counts, so a proposal costs O(nodes * cells). At most two intervals are shifted; they cut the
order into five runs.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Terms
from syclade.kernels.preorder.changes import ONE_IN_THE_OTHER, ONE_INTERVAL
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, choose, control, device_function, equal, private_array

_ZERO = control(0)
_RUNS = 5


@device_function
def run_of(
    moved,  # IN Moved
    here,  # IN Here
    number,  # IN control: 0 ... 4
):
    """Return (start, end of a run of positions; the two rows whose difference shifts it), all control."""
    nested = equal(moved.shape, ONE_IN_THE_OTHER)
    alone = equal(moved.shape, ONE_INTERVAL)
    second, end_second = choose(alone, moved.b1, moved.a2), choose(alone, moved.b1, moved.b2)
    cut_1 = moved.a1
    cut_2 = choose(nested, moved.a2, moved.b1)
    cut_3 = choose(nested, moved.b2, second)
    cut_4 = choose(nested, moved.b1, end_second)
    in_0, in_1 = equal(number, control(0)), equal(number, control(1))
    in_2, in_3 = equal(number, control(2)), equal(number, control(3))
    start = choose(in_0, _ZERO, choose(in_1, cut_1, choose(in_2, cut_2, choose(in_3, cut_3, cut_4))))
    stop = choose(in_0, cut_1, choose(in_1, cut_2, choose(in_2, cut_3, choose(in_3, cut_4, here.tree_nodes))))
    by_1 = in_1 | (in_3 & nested)
    by_2 = (in_2 & nested) | (in_3 & ~nested)
    zero = here.layout.zero
    plus = choose(by_1, moved.plus_1, choose(by_2, moved.plus_2, zero))
    minus = choose(by_1, moved.minus_1, choose(by_2, moved.minus_2, zero))
    return start, stop, plus, minus


def make_totals(form: Form, terms: Terms) -> Any:
    """Return the device function `take_totals`.

    Args:
        form: form of the tables.
        terms: terms of the score.
    """
    take_shift = make_rows(form).take_shift
    rounds, lanes = form.rounds, form.lanes
    term = terms.term

    @device_function
    def take_totals(
        totals,  # OUT (cells of a panel / lanes,) int32, private
        best,  # IN, like totals: the scores of the best attachments after the proposal
        made,  # IN result of `terms.form`
        slot,  # IN tables, places
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        moved,  # IN Moved
    ):
        """Compute totals = the sums of the terms of all positions."""
        given = slot.given
        shift = private_array(rounds, np.int32)
        for part in range(rounds):
            totals[part] = np.int32(0)
        for number in range(_RUNS):
            start, stop, plus, minus = run_of(moved, slot.here, control(number))
            take_shift(shift, given.tables, column, plus, minus)
            for place in range(start, stop):
                row = column + address(row_at(given.places, slot.base + address(place)))
                for part in range(rounds):
                    worth = np.int32(given.tables[row + address(part * lanes)] + shift[part])
                    totals[part] = np.int32(totals[part] + term(made, worth, best[part]))

    return take_totals
