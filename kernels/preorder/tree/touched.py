"""Touched: the blocks of the order that an accepted edit changes, and the positions it changes in them."""

from syclade.kernels.preorder.changes import Touched
from syclade.kernels.preorder.tree.places import block_at
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def touched_by_everything(
    blocks,  # IN control: how many there are
    tree_nodes,  # IN control
):
    """All blocks, and all of each (Touched)."""
    return Touched(_ZERO, blocks, _ZERO, tree_nodes, _ZERO, _ZERO, _ZERO, _ZERO)


@device_function
def touched_by_shifts(
    places,  # IN (slots, nodes) int64, flat
    base,  # IN address: where the slot's tree starts
    start_1,  # IN control: two runs of positions that are shifted where they are; the second may be empty
    stop_1,
    start_2,
    stop_2,
):
    """The blocks that the two runs lie in (Touched)."""
    block_1 = block_at(places, base + address(start_1))
    end_1 = block_at(places, base + address(stop_1 - _ONE)) + _ONE
    block_2 = _ZERO
    end_2 = _ZERO
    if start_2 < stop_2:
        block_2 = block_at(places, base + address(start_2))
        end_2 = block_at(places, base + address(stop_2 - _ONE)) + _ONE
        if block_2 < end_1:  # they share a block: take them as one
            end_1 = end_2
            stop_1 = stop_2
            end_2 = block_2
    return Touched(block_1, end_1, start_1, stop_1, block_2, end_2, start_2, stop_2)
