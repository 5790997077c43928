"""Context of a slot: where its parts of the arguments start."""

from typing import Any, NamedTuple


class Here(NamedTuple):
    """Context that the device functions take besides the arguments.

    Attributes:
        number: address, the slot.
        lane: address.
        root: control, the number of the root, which is the last node.
        rows: address, where the slot's part of `rows` starts.
        sizes: Sizes.
    """

    number: Any
    lane: Any
    root: Any
    rows: Any
    sizes: Any
