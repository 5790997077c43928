"""The parents of a tree that stands as an ancestor matrix: for who wants to see it."""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.target import address, control, device_function


def make_parents_to(relations: Relations, nodes: int, lanes: int) -> Any:
    """Device function parents_to."""
    rounds = nodes // lanes
    parent_of = relations.parent_of

    @device_function
    def parents_to(
        given,  # IN
        here,  # IN
        base,  # IN address
        target,  # OUT int32, flat
        start,  # IN address: where the tree starts in it, (nodes,)
    ):
        """Write the lane's nodes' parents; padding stands for anything."""
        for part in range(rounds):
            node = address(part * lanes) + here.lane
            target[start + node] = np.int32(parent_of(given, here, base, control(node)))

    return parents_to
