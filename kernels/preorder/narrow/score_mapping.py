"""Score mapping: a proposal's best attachments from range maxima and shifts, in O(cells).

The score defines what these contribute (worth.py).
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Score
from syclade.kernels.preorder.changes import ONE_INTERVAL
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.worth import make_worth
from syclade.kernels.preorder.tables.range_maximum import make_range_maximum
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tables.third_interval import third_interval
from syclade.kernels.preorder.tree.places import block_at, row_at
from syclade.kernels.target import address, control, device_function, private_array

_ONE = control(1)


def make_score_mapping(form: Form, score: Score) -> Any:
    """Return a device function that gives the lane's share of the proposal's score.

    Args:
        form: form of the tables.
        score: contribution of a cell.
    """
    rows = make_rows(form)
    take_row, raise_by_row, raise_by_shifted = rows.take_row, rows.raise_by_row, rows.raise_by_shifted
    _range_rows, take_range, _range_of_cell = make_range_maximum(form)
    rounds, lanes = form.rounds, form.lanes
    add_panel = make_worth(form, score)

    @device_function
    def score_mapping(
        slot,  # IN tables, places, multiplicity, and the score's arguments
        moved,  # IN Moved
    ):
        """Return the sum over the lane's columns of multiplicity * contribution of the cell (int64)."""
        given, here, base = slot
        before, prefix, after = here.layout.before, here.layout.prefix, here.layout.after
        suffix, width = here.layout.suffix, here.sizes.cells
        best = private_array(rounds, np.int32)
        others = private_array(rounds, np.int32)
        share = np.int64(0)
        left = base + address(moved.a1 - _ONE)
        right = base + address(moved.end)
        for panel in range(here.sizes.panels):
            first_cell = address(panel * rounds * lanes) + here.lane
            column = here.table + first_cell
            take_row(best, given.tables, column, before + block_at(given.places, left) * width)
            raise_by_row(best, given.tables, column, prefix + row_at(given.places, left))
            raise_by_row(best, given.tables, column, after + block_at(given.places, right) * width)
            raise_by_row(best, given.tables, column, suffix + row_at(given.places, right))
            take_range(others, slot, column, moved.a1, moved.end_first)
            raise_by_shifted(best, others, given.tables, column, moved.plus_1, moved.minus_1)
            if moved.shape != ONE_INTERVAL:
                take_range(others, slot, column, moved.a2, moved.b2)
                raise_by_shifted(best, others, given.tables, column, moved.plus_2, moved.minus_2)
                third, end_third, plus_3 = third_interval(moved)
                take_range(others, slot, column, third, end_third)
                raise_by_shifted(best, others, given.tables, column, plus_3, moved.minus_1)
            share = add_panel(share, best, others, slot, panel, moved)
        return share

    return score_mapping
