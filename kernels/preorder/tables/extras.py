"""Optional parts of the tables besides scores and running maxima, and how they follow the tree."""

from typing import Any, NamedTuple

from syclade.kernels.target import device_function


@device_function
def add_nothing(
    slot,  # IN not used
    panel,  # IN not used
):
    """Leave the scores as they are."""


class Extras(NamedTuple):
    """Device functions; those that take a panel work on the lane's cells of it.

    Attributes:
        fill: (slot, panel): fill all of a new tree, once scores, weights and maxima are there.
        shift_row: (shift, slot, panel, row): add a shift to a score row, and to what belongs to it.
        before_shift: (slot, panel, climbs) -> any value that `after_shift` needs.
        after_shift: (slot, panel, climbs, known): repair what the shifts have changed.
        may_have_lost: (slot, column, number, gap, climbs, shift) -> mask: whether a block may
            have lost a maximum with the run that has left it. `gap` is the position that followed the run.
        add_to_scores: (slot, panel): change the scores of a new tree before their maxima are taken.
    """

    fill: Any
    shift_row: Any
    before_shift: Any
    after_shift: Any
    may_have_lost: Any
    add_to_scores: Any = add_nothing
