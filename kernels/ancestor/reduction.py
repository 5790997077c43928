"""Reduction: add up the lanes' shares to the score of a tree; copy a tree that is accepted or the best."""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.target import address, device_function


def make_total(lanes: int) -> Callable[..., Any]:
    """Return a device function that sums all lanes' shares."""

    @device_function
    def total(
        shares,  # IN (slots, lanes) int64, flat
        start,  # IN address: where the slot's shares start
    ):
        """Return the sum of all lanes' shares (int64).

        Every lane computes it, which is cheaper than a broadcast.
        """
        score = np.int64(0)
        for lane in range(lanes):
            score = score + shares[start + address(lane)]
        return score

    return total


def make_copy_rows(capacity_of: Any, lanes: int) -> Callable[..., Any]:
    """Return a device function that copies a matrix of a capacity; each lane copies every `lanes`-th row."""
    lane_bits = bits_of(lanes)

    @device_function
    def copy_rows(
        source,  # IN (slots, words, nodes) uint64, flat
        target,  # OUT (slots, words, nodes) uint64, flat
        base,  # IN address: where the slot's matrix starts
        lane,  # IN address
    ):
        """Copy the lane's rows of one slot's matrix."""
        capacity = capacity_of()
        for index in range(capacity.words):
            start = base + address(index) * address(capacity.nodes)
            for part in range(capacity.nodes >> lane_bits):
                at = start + address(part * lanes) + lane
                target[at] = source[at]

    return copy_rows
