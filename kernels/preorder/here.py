"""Where a slot's parts of the arguments are."""

from typing import Any, NamedTuple


class Here(NamedTuple):
    """What the device functions take besides the arguments.

    Attributes:
        number: uint64, the slot.
        lane: uint64.
        tree_nodes: int64, the mutations and the root.
        fresh: uint64, where the slot's part of `fresh` starts.
        table: uint64, likewise of `tables`.
        sketch: uint64, likewise of `sketch`; 0 where there is none.
        flags: uint64, likewise of `flagged`; 0 where there is none.
        sizes: Sizes.
        layout: Layout, where rows start.
    """

    number: Any
    lane: Any
    tree_nodes: Any
    fresh: Any
    table: Any
    sketch: Any
    flags: Any
    sizes: Any
    layout: Any
