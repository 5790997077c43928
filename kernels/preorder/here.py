"""Context of a slot: where its parts of the arguments start."""

from typing import Any, NamedTuple


class Here(NamedTuple):
    """Context that the device functions take besides the arguments.

    Attributes:
        number: address, the slot.
        lane: address.
        tree_nodes: control, number of nodes: the mutations and the root.
        fresh: address, where the slot's part of `fresh` starts.
        table: address, likewise of `tables`.
        sketch: address, likewise of `sketch`; 0 if there is none.
        flags: address, likewise of `flagged`; 0 if there is none.
        sizes: Sizes.
        layout: Layout, where rows start.
        variant: Variant, what the problem needs.
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
    variant: Any
