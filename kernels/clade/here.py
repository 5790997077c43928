"""Where a slot's parts of the arguments are."""

from typing import Any, NamedTuple


class Here(NamedTuple):
    """What the device functions take besides the arguments.

    Attributes:
        number: address, the slot.
        lane: address.
        root: control, the number of the root, which is the last node.
        clade: address, where the slot's part of `clade` starts.
        rows: address, likewise of `rows`.
        sizes: Sizes.
    """

    number: Any
    lane: Any
    root: Any
    clade: Any
    rows: Any
    sizes: Any
