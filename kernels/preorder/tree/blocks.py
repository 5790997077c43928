"""Blocks of the preorder: each is a run of neighbouring positions, of no fixed length.

A subtree inside one block moves to the block of its new neighbour; then only these two change. In all other
cases (large subtrees, blocks that would become empty or long) the order is cut into equal blocks again.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.preorder.changes import Local
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tree.places import block_at, place_of, row_at
from syclade.kernels.target import address, control, device_function, minimum

_ONE = control(1)
_TWO = control(2)
_ZERO = control(0)


class Blocks(NamedTuple):
    """Device functions for blocks."""

    joins: Any
    exchange: Any
    move_to_block: Any
    cut_anew: Any


@device_function
def length_of(
    slot,  # IN block_start
    number,  # IN control: the block
):
    """Return the number of positions of a block (control)."""
    given = slot.given
    at = slot.base + address(number)
    return control(given.block_start[at + address(1)]) - control(given.block_start[at])


def make_blocks(form: Form) -> Blocks:
    """Return the device functions for trees of any size."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def joins(
        slot,  # IN block_start, places
        a,  # IN control: start of the run that moves
        b,  # IN control: its end
        neighbour,  # IN control: position that will precede it
    ):
        """Return whether the run can move from its block to its new neighbour's (Local)."""
        given, base = slot.given, slot.base
        old = block_at(given.places, base + address(a))
        new = block_at(given.places, base + address(neighbour))
        old_length = length_of(slot, old)
        new_length = length_of(slot, new)
        one_block = control(old == block_at(given.places, base + address(b - _ONE)))
        longest = _TWO << slot.here.sizes.block_bits
        fits = control(old_length > b - a) * control(new_length + b - a <= longest)
        return Local(one_block * max(fits, control(old == new)), old, new)

    @device_function
    def exchange(
        slot,  # IN block_start, places
        a1,  # IN control: start of the first run
        b1,  # IN control: its end
        a2,  # IN control: start of the second run
        b2,  # IN control: its end
    ):
        """Return whether each run can move from its block to the other's (Local)."""
        given, base = slot.given, slot.base
        first = block_at(given.places, base + address(a1))
        second = block_at(given.places, base + address(a2))
        first_length = length_of(slot, first)
        second_length = length_of(slot, second)
        one_block = control(first == block_at(given.places, base + address(b1 - _ONE)))
        other_one = control(second == block_at(given.places, base + address(b2 - _ONE)))
        more = (b2 - a2) - (b1 - a1)
        longest = _TWO << slot.here.sizes.block_bits
        fits = control(first_length + more <= longest) * control(second_length - more <= longest)
        return Local(one_block * other_one * max(fits, control(first == second)), first, second)

    @device_function
    def move_to_block(
        slot,  # IN OUT places, block_start
        run,  # IN control: where the run starts now
        end_run,  # IN control: its end
        old,  # IN control: the block that it has left
        new,  # IN control: the block that it joins
    ):
        """Enter the run's new block, and shift the starts of the blocks between.

        Each lane does its own part.
        """
        given, here, base = slot
        length = end_run - run
        for part in range((here.sizes.blocks >> lane_bits) + _ONE):
            at = address(part * lanes) + here.lane
            block = control(at)
            left = control(block > old) * control(block <= new)
            right = control(block > new) * control(block <= old)
            start = control(given.block_start[base + at])
            given.block_start[base + at] = np.int32(start + (right - left) * length)
        for place in range(run, end_run):
            at = base + address(place)
            given.places[at] = place_of(row_at(given.places, at), new)

    @device_function
    def cut_anew(
        slot,  # IN OUT places; OUT block_start
    ):
        """Cut the order into equal blocks; padding belongs to the last one."""
        given, here, base = slot
        block_bits = here.sizes.block_bits
        last = (here.tree_nodes - _ONE) >> block_bits
        for part in range(here.sizes.nodes >> lane_bits):
            at = address(part * lanes) + here.lane
            place = control(at)
            given.places[base + at] = place_of(
                row_at(given.places, base + at), minimum(place >> block_bits, last)
            )
            given.block_start[base + at] = np.int32(minimum(place << block_bits, here.tree_nodes))

    return Blocks(joins, exchange, move_to_block, cut_anew)
