"""Traits of a target that encodings adapt to; each target defines its own. No device code."""

from typing import NamedTuple


class Traits(NamedTuple):
    """Sizes that follow from the hardware and from measurements on it; results do not depend on them.

    Attributes:
        lanes: lanes per slot; a power of two. A batch of random draws is for as many steps.
        panel_rounds: maximum number of cells of a panel that a lane keeps in registers, twice; at most 31.
        sketches_beyond: number of columns, padding included, above which sketches pay: narrower tables are
            read as a whole in less time.
    """

    lanes: int
    panel_rounds: int
    sketches_beyond: int
