"""What tables may have besides scores and running maxima, and how that follows the tree."""

from typing import Any, NamedTuple


class Extras(NamedTuple):
    """Device functions; what they do to a panel is that of the lane's cells.

    Attributes:
        fill: (given, here, base, panel): all of a new tree, once scores and weights are there.
        shift_row: (shift, given, here, panel, row): add a shift to a score row, and to what goes with it.
        before_shift: (given, here, base, panel, climbs) -> anything that `after_shift` wants to know.
        after_shift: (given, here, base, panel, climbs, known): make good what the shifts have changed.
        may_have_lost: (given, here, base, column, number, gap, climbs, shift) -> mask: may a block have lost
            a maximum with the run that has left it? `gap` is the position that followed the run.
    """

    fill: Any
    shift_row: Any
    before_shift: Any
    after_shift: Any
    may_have_lost: Any
