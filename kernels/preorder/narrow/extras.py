"""Narrow tables have scores and running maxima, and nothing else."""

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.target import address, control, device_function

_ALWAYS = control(-1)


def make_extras(form: Form) -> Extras:
    """Nothing but to shift a row."""
    add_to_row = make_rows(form).add_to_row
    panel_size = address(form.rounds * form.lanes)

    @device_function
    def fill(given, here, base, panel):
        """There is nothing more to fill."""

    @device_function
    def shift_row(shift, given, here, panel, row):
        """Add a shift to a score row."""
        add_to_row(shift, given.tables, here.table + address(panel) * panel_size + here.lane, row)

    @device_function
    def before_shift(given, here, base, panel, climbs):
        """There is nothing to know."""
        return _ALWAYS

    @device_function
    def after_shift(given, here, base, panel, climbs, known):
        """There is nothing to make good."""

    @device_function
    def may_have_lost(given, here, base, column, number, gap, climbs, shift):
        """It is not worth while to ask."""
        return _ALWAYS

    return Extras(fill, shift_row, before_shift, after_shift, may_have_lost)
