"""The parents of a tree, whatever encoding it stands in: for who wants to see it."""

from typing import Any

import numpy as np

from syclade.kernels.target import address, control, device_function


def make_parents_to(parent_of: Any, lanes: int) -> Any:
    """Device function parents_to.

    Args:
        parent_of: of the encoding's `Relations`.
        lanes: of a slot.
    """

    @device_function
    def parents_to(
        given,  # IN the encoding's arguments
        here,  # IN where the slot's stand in them
        base,  # IN address
        target,  # OUT int32, flat
        start,  # IN address: where the tree starts in it, (rounds · lanes,)
        rounds,  # IN control
    ):
        """Write the lane's nodes' parents; padding stands for anything."""
        for part in range(rounds):
            node = address(part * lanes) + here.lane
            target[start + node] = np.int32(parent_of(given, here, base, control(node)))

    return parents_to
