"""Touched: the blocks of the order that an accepted move changes, and the positions that it changes in them.

All functions return twice (first block, end of blocks, first position, end of positions), eight int64.
"""

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.places import block_at
from syclade.kernels.proposal import PRUNE_AND_REATTACH

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_ZERO = np.int64(0)
_ONE = np.int64(1)


@dpex.device_func
def touched_by_everything(
    blocks,  # IN int64: how many there are
    tree_nodes,  # IN int64
):
    """All blocks, and all of each."""
    return _ZERO, blocks, _ZERO, tree_nodes, _ZERO, _ZERO, _ZERO, _ZERO


@dpex.device_func
def touched_by_shifts(
    places,  # IN (slots, nodes) int64, flat
    base,  # IN uint64: where the slot's tree starts
    start_1,  # IN int64: two runs of positions that are shifted where they are; the second may be empty
    stop_1,
    start_2,
    stop_2,
):
    """The blocks that the two runs lie in."""
    block_1 = block_at(places, base + np.uint64(start_1))
    end_1 = block_at(places, base + np.uint64(stop_1 - _ONE)) + _ONE
    block_2 = _ZERO
    end_2 = _ZERO
    if start_2 < stop_2:
        block_2 = block_at(places, base + np.uint64(start_2))
        end_2 = block_at(places, base + np.uint64(stop_2 - _ONE)) + _ONE
        if block_2 < end_1:  # they share a block: take them as one
            end_1 = end_2
            stop_1 = stop_2
            end_2 = block_2
    return block_1, end_1, start_1, stop_1, block_2, end_2, start_2, stop_2


@dpex.device_func
def touched_by_local_move(
    kind,  # IN int64: prune and reattach, or a swap of unrelated subtrees
    old,  # IN int64: the block that the first run has left
    new,  # IN int64: the block that it has joined, and the second run has left
    start,  # IN int64: the positions that changed
    stop,
    run,  # IN int64: where the first run is now
    end_run,
    other_run,  # IN int64: in swaps, where the second run is now
    end_other_run,
):
    """The blocks that runs have left and joined; a block that was left only has no changed positions."""
    if kind != _PRUNE:
        if old == new:
            return old, old + _ONE, other_run, end_run, _ZERO, _ZERO, _ZERO, _ZERO
        return old, old + _ONE, other_run, end_other_run, new, new + _ONE, run, end_run
    gap = stop  # the position that follows where the run was
    if run != start:
        gap = start
    if old == new:
        return old, old + _ONE, min(gap, run), max(gap, end_run), _ZERO, _ZERO, _ZERO, _ZERO
    return old, old + _ONE, gap, gap, new, new + _ONE, run, end_run
