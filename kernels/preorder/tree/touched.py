"""Touched: the blocks that an accepted edit changes, and the positions that it changes in them."""

from syclade.kernels.preorder.changes import Touched
from syclade.kernels.preorder.tree.places import block_at
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def touched_by_everything(
    blocks,  # IN control: number of blocks
    tree_nodes,  # IN control
):
    """Return all blocks with all their positions (Touched)."""
    return Touched(_ZERO, blocks, _ZERO, tree_nodes, _ZERO, _ZERO, _ZERO, _ZERO)


@device_function
def touched_by_shifts(
    places,  # IN (slots, nodes) int64, flat
    base,  # IN address: where the slot's tree starts
    start_1,  # IN control: start of the first run of positions that are shifted in place
    stop_1,  # IN control: its end
    start_2,  # IN control: start of the second run, which may be empty
    stop_2,  # IN control: its end
):
    """Return the blocks that the two runs are in (Touched)."""
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
