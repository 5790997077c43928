"""Rows of a slot's tables in the lane's registers: its cells of one panel of a row, one after another.

A panel is as many columns as fit in registers; wide matrices are processed panel by panel.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, any_lane, control, device_function, maximum


class Rows(NamedTuple):
    """Device functions for rows."""

    take_row: Any
    raise_by_row: Any
    take_shift: Any
    raise_by_shifted: Any
    add_to_row: Any
    put_row: Any
    replace_row: Any
    differs: Any


@cache
def make_rows(form: Form) -> Rows:
    """Return the device functions for tables of this form.

    All take

    - values: (cells of a panel / lanes,) int32, private to the lane;
    - tables: (slots, rows, cells) int32, flat;
    - column: address, the lane's first cell of the panel in the first row of the slot's tables;
    - at: control, the row: where it starts, as in layout.py.
    """
    rounds, lanes, broad = form.rounds, form.lanes, form.broad

    @device_function
    def take_row(
        values,  # OUT
        tables,  # IN
        column,  # IN
        at,  # IN
    ):
        """Load values = row."""
        start = column + address(at)
        for part in range(rounds):
            values[part] = tables[start + address(part * lanes)]

    @device_function
    def raise_by_row(
        values,  # IN OUT
        tables,  # IN
        column,  # IN
        at,  # IN
    ):
        """Compute values = max(values, row)."""
        start = column + address(at)
        for part in range(rounds):
            values[part] = maximum(values[part], tables[start + address(part * lanes)])

    @device_function
    def take_shift(
        values,  # OUT
        tables,  # IN
        column,  # IN
        plus,  # IN control: row that the shift adds
        minus,  # IN control: row that the shift subtracts
    ):
        """Compute values = shift."""
        plus_at = column + address(plus)
        minus_at = column + address(minus)
        for part in range(rounds):
            at = address(part * lanes)
            values[part] = np.int32(tables[plus_at + at] - tables[minus_at + at])

    @device_function
    def raise_by_shifted(
        values,  # IN OUT
        others,  # IN like values
        tables,  # IN
        column,  # IN
        plus,  # IN control: row that the shift adds
        minus,  # IN control: row that the shift subtracts
    ):
        """Compute values = max(values, others + shift)."""
        plus_at = column + address(plus)
        minus_at = column + address(minus)
        for part in range(rounds):
            at = address(part * lanes)
            shift = np.int32(tables[plus_at + at] - tables[minus_at + at])
            values[part] = maximum(values[part], np.int32(others[part] + shift))

    @device_function
    def add_to_row(
        values,  # IN
        tables,  # IN OUT
        column,  # IN
        at,  # IN
    ):
        """Compute row = row + values."""
        start = column + address(at)
        for part in range(rounds):
            place = start + address(part * lanes)
            tables[place] = np.int32(tables[place] + values[part])

    @device_function
    def put_row(
        values,  # IN
        tables,  # OUT
        column,  # IN
        at,  # IN
    ):
        """Store row = values."""
        start = column + address(at)
        for part in range(rounds):
            tables[start + address(part * lanes)] = values[part]

    @device_function
    def differs(
        values,  # IN
        tables,  # IN
        column,  # IN
        at,  # IN
    ):
        """Return a mask: whether the row differs from the values in any lane."""
        start = column + address(at)
        differences = np.int32(0)
        for part in range(rounds):
            differences = np.int32(differences | (tables[start + address(part * lanes)] ^ values[part]))
        return any_lane(differences != np.int32(0))

    @device_function
    def replace_row(
        values,  # IN
        tables,  # IN OUT
        column,  # IN
        at,  # IN
    ):
        """Store row = values; return a mask: whether the row was different in any lane.

        For narrow rows the mask is always set (form.py).
        """
        changed = control(-1)
        if broad:
            changed = differs(values, tables, column, at)
        if changed != control(0):
            put_row(values, tables, column, at)
        return changed

    return Rows(
        take_row, raise_by_row, take_shift, raise_by_shifted, add_to_row, put_row, replace_row, differs
    )
