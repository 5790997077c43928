"""Read the parents of a tree from any encoding."""

from typing import Any

import numpy as np

from syclade.kernels.target import address, control, device_function


def make_parents_to(parent_of: Any, lanes: int) -> Any:
    """Return the device function `parents_to`.

    Args:
        parent_of: from the encoding's `Relations`.
        lanes: lanes per slot.
    """

    @device_function
    def parents_to(
        slot,  # IN the encoding's arguments
        target,  # OUT int32, flat
        start,  # IN address: where the tree's (rounds * lanes,) parents start in it
        rounds,  # IN control: nodes per lane
    ):
        """Write the parents of the lane's nodes; padding gets arbitrary values."""
        for part in range(rounds):
            node = address(part * lanes) + slot.here.lane
            target[start + node] = np.int32(parent_of(slot, control(node)))

    return parents_to
