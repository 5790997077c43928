"""Narrow tables: scores and running maxima, without extras."""

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.target import address, control, device_function

_ALWAYS = control(-1)


def make_extras(form: Form) -> Extras:
    """Return extras that only shift a row."""
    add_to_row = make_rows(form).add_to_row
    panel_size = address(form.rounds * form.lanes)

    @device_function
    def fill(
        slot,  # IN not used
        panel,  # IN not used
    ):
        """Fill nothing more."""

    @device_function
    def shift_row(
        shift,  # IN (cells of a panel / lanes,) int32, private
        slot,  # IN OUT tables
        panel,  # IN integer: the panel
        row,  # IN control: where the score row starts
    ):
        """Add a shift to a score row."""
        here = slot.here
        add_to_row(shift, slot.given.tables, here.table + address(panel) * panel_size + here.lane, row)

    @device_function
    def before_shift(
        slot,  # IN not used
        panel,  # IN not used
        climbs,  # IN not used
    ):
        """Return a constant: `after_shift` needs nothing."""
        return _ALWAYS

    @device_function
    def after_shift(
        slot,  # IN not used
        panel,  # IN not used
        climbs,  # IN not used
        known,  # IN not used
    ):
        """Repair nothing."""

    @device_function
    def may_have_lost(
        slot,  # IN not used
        column,  # IN not used
        number,  # IN not used
        gap,  # IN not used
        climbs,  # IN not used
        shift,  # IN not used
    ):
        """Return all ones: a check does not pay."""
        return _ALWAYS

    return Extras(fill, shift_row, before_shift, after_shift, may_have_lost)
