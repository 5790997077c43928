"""Blocks of the preorder: each a run of neighbouring positions, of no fixed length.

A subtree that lies in one block moves to the block of its new neighbour; then only these two change. Whatever
does not fit this (large subtrees, blocks that would become empty or long) cuts the order into equal blocks
anew.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import count_blocks
from syclade.kernels.preorder.places import block_at, place_of, row_at

_ONE = np.int64(1)
_ZERO = np.int64(0)


def make_blocks(nodes: int, block: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (joins, exchange, move_to_block, cut_anew).

    Blocks have about `block` positions, a power of two.
    """
    rounds = nodes // lanes
    block_rounds = -(-(count_blocks(nodes, block) + 1) // lanes)
    block_bits = np.int64(block.bit_length() - 1)
    longest = np.int64(2 * block)

    @dpex.device_func
    def length_of(
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        number,  # IN int64: the block
    ):
        """Positions of a block (int64)."""
        at = base + np.uint64(number)
        return np.int64(block_start[at + np.uint64(1)]) - np.int64(block_start[at])

    @dpex.device_func
    def joins(
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        a,  # IN int64: the run that moves
        b,
        neighbour,  # IN int64: position that will come before it
    ):
        """(1 if the run can move from its block to its new neighbour's, its block, that block), int64."""
        old = block_at(places, base + np.uint64(a))
        new = block_at(places, base + np.uint64(neighbour))
        old_length = length_of(block_start, base, old)
        new_length = length_of(block_start, base, new)
        one_block = np.int64(old == block_at(places, base + np.uint64(b - _ONE)))
        fits = np.int64(old_length > b - a) * np.int64(new_length + b - a <= longest)
        return one_block * max(fits, np.int64(old == new)), old, new

    @dpex.device_func
    def exchange(
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        a1,  # IN int64: the runs that change places
        b1,
        a2,
        b2,
    ):
        """(1 if each run can move from its block to the other's, the first block, the second), int64."""
        first = block_at(places, base + np.uint64(a1))
        second = block_at(places, base + np.uint64(a2))
        first_length = length_of(block_start, base, first)
        second_length = length_of(block_start, base, second)
        one_block = np.int64(first == block_at(places, base + np.uint64(b1 - _ONE)))
        other_one = np.int64(second == block_at(places, base + np.uint64(b2 - _ONE)))
        more = (b2 - a2) - (b1 - a1)
        fits = np.int64(first_length + more <= longest) * np.int64(second_length - more <= longest)
        return one_block * other_one * max(fits, np.int64(first == second)), first, second

    @dpex.device_func
    def move_to_block(
        places,  # IN OUT (slots, nodes) int64, flat
        block_start,  # IN OUT (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
        run,  # IN int64: where the run stands now
        end_run,
        old,  # IN int64: the block it has left
        new,  # IN int64: the block it joins
    ):
        """Enter the run's new block, and shift the starts of the blocks between; each lane its own part."""
        length = end_run - run
        for part in range(block_rounds):
            at = np.uint64(part * lanes) + lane
            here = np.int64(at)
            left = np.int64(here > old) * np.int64(here <= new)
            right = np.int64(here > new) * np.int64(here <= old)
            start = np.int64(block_start[base + at])
            block_start[base + at] = np.int32(start + (right - left) * length)
        for place in range(run, end_run):
            at = base + np.uint64(place)
            places[at] = place_of(row_at(places, at), new)

    @dpex.device_func
    def cut_anew(
        places,  # IN OUT (slots, nodes) int64, flat
        block_start,  # OUT (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
        tree_nodes,  # IN int64
    ):
        """Equal blocks; padding counts to the last one."""
        last = (tree_nodes - _ONE) >> block_bits
        for part in range(rounds):
            at = np.uint64(part * lanes) + lane
            here = np.int64(at)
            places[base + at] = place_of(row_at(places, base + at), min(here >> block_bits, last))
            block_start[base + at] = np.int32(min(here << block_bits, tree_nodes))

    return joins, exchange, move_to_block, cut_anew
