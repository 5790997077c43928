"""Best attachments after a proposal, kept apart by whether they are shifted."""

from typing import Any

import numpy as np

from syclade.kernels.preorder.changes import ONE_INTERVAL, TWO_APART
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.range_maximum import make_range_maximum
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tables.third_interval import third_interval
from syclade.kernels.preorder.tree.places import block_at, row_at
from syclade.kernels.target import address, control, device_function, maximum

_ONE = control(1)


def make_best_after(form: Form) -> Any:
    """Return the device function `take_best`; the same range maxima as in narrow/score_mapping.py."""
    rows = make_rows(form)
    take_row, raise_by_row, raise_by_shifted = rows.take_row, rows.raise_by_row, rows.raise_by_shifted
    _range_rows, take_range, _range_of_cell = make_range_maximum(form)
    take_shift, rounds = rows.take_shift, form.rounds

    @device_function
    def take_shifted(
        values,  # OUT like best
        others,  # IN like best
        tables,  # IN (slots, rows, cells) int32, flat
        column,  # IN address
        plus,  # IN control: row that the shift adds
        minus,  # IN control: row that the shift subtracts
    ):
        """Compute values = others + shift."""
        take_shift(values, tables, column, plus, minus)
        for part in range(rounds):
            values[part] = np.int32(values[part] + others[part])

    @device_function
    def take_best(
        best,  # OUT (cells of a panel / lanes,) int32, private
        top,  # OUT like best
        others,  # OUT like best: scratch
        slot,  # IN tables, places
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        moved,  # IN Moved
    ):
        """Compute best = the best scores after the proposal, top = those of the shifted positions."""
        given, here, base = slot
        before, prefix, after = here.layout.before, here.layout.prefix, here.layout.after
        suffix, width = here.layout.suffix, here.sizes.cells
        left = base + address(moved.a1 - _ONE)
        right = base + address(moved.end)
        take_row(best, given.tables, column, before + block_at(given.places, left) * width)
        raise_by_row(best, given.tables, column, prefix + row_at(given.places, left))
        raise_by_row(best, given.tables, column, after + block_at(given.places, right) * width)
        raise_by_row(best, given.tables, column, suffix + row_at(given.places, right))
        take_range(others, slot, column, moved.a1, moved.end_first)
        take_shifted(top, others, given.tables, column, moved.plus_1, moved.minus_1)
        if moved.shape != ONE_INTERVAL:
            take_range(others, slot, column, moved.a2, moved.b2)
            raise_by_shifted(top, others, given.tables, column, moved.plus_2, moved.minus_2)
            third, end_third, plus_3 = third_interval(moved)
            take_range(others, slot, column, third, end_third)
            if moved.shape == TWO_APART:
                raise_by_shifted(best, others, given.tables, column, plus_3, moved.minus_1)
            else:
                raise_by_shifted(top, others, given.tables, column, plus_3, moved.minus_1)
        for part in range(rounds):
            best[part] = maximum(best[part], top[part])

    return take_best
