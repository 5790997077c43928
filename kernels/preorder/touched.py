"""Touched: the blocks of the order that an accepted move changes, and the positions that it changes in them.

All functions return twice (first block, end of blocks, first position, end of positions), eight int64.
"""

import numba_dpex as dpex
import numpy as np

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
    block_of,  # IN (slots, nodes) int32, flat
    base,  # IN uint64: where the slot's tree starts
    start_1,  # IN int64: two runs of positions that are shifted where they are; the second may be empty
    stop_1,
    start_2,
    stop_2,
):
    """The blocks that the two runs lie in."""
    block_1 = np.int64(block_of[base + np.uint64(start_1)])
    end_1 = np.int64(block_of[base + np.uint64(stop_1 - _ONE)]) + _ONE
    block_2 = _ZERO
    end_2 = _ZERO
    if start_2 < stop_2:
        block_2 = np.int64(block_of[base + np.uint64(start_2)])
        end_2 = np.int64(block_of[base + np.uint64(stop_2 - _ONE)]) + _ONE
        if block_2 < end_1:  # they share a block: take them as one
            end_1 = end_2
            stop_1 = stop_2
            end_2 = block_2
    return block_1, end_1, start_1, stop_1, block_2, end_2, start_2, stop_2


@dpex.device_func
def touched_by_run(
    old,  # IN int64: the block that the run has left
    new,  # IN int64: the block that it has joined
    gap,  # IN int64: the position that follows where the run was
    run,  # IN int64: where it is now
    end_run,
):
    """The old block, with a gap and no changed position, and the new one with the run."""
    end_new = new + _ONE
    start = gap
    stop = gap
    if old == new:
        end_new = new
        start = min(gap, run)
        stop = max(gap, end_run)
    return old, old + _ONE, start, stop, new, end_new, run, end_run


@dpex.device_func
def touched_by_exchange(
    first,  # IN int64: the blocks whose runs have changed places
    second,
    run_1,  # IN int64: where the run in the first block is now
    end_run_1,
    run_2,  # IN int64: where the run in the second block is now
    end_run_2,
):
    """Both blocks, or the one that both runs are in."""
    if first == second:
        return first, first + _ONE, run_1, end_run_2, _ZERO, _ZERO, _ZERO, _ZERO
    return first, first + _ONE, run_1, end_run_1, second, second + _ONE, run_2, end_run_2
