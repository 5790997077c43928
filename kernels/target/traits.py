"""What an encoding has to know of a target to suit it: each target states its own. No device code."""

from typing import NamedTuple


class Traits(NamedTuple):
    """Sizes that come from the hardware and what was measured there; results do not depend on them.

    Attributes:
        lanes: of a slot; a power of two. A batch of random draws is as many steps.
        panel_rounds: most cells of a panel that a lane keeps in registers, twice; at most 31.
        sketches_beyond: columns, padding included, beyond which sketches pay: narrower tables are read whole
            in less time.
    """

    lanes: int
    panel_rounds: int
    sketches_beyond: int
