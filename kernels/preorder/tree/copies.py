"""Copies of a tree's parents: the best tree, and trees that leave the chain."""

from typing import Any

import numpy as np

from syclade.kernels.preorder.shape import Shape
from syclade.kernels.target import device_function


def make_copies(shape: Shape) -> tuple[Any, Any]:
    """Device functions (keep, parents_to)."""
    label_rounds, node_rounds = shape.labels // shape.lanes, shape.nodes // shape.lanes
    lanes = shape.lanes

    @device_function
    def keep(given, here, base):
        """Take the tree for the best one."""
        for part in range(label_rounds):
            at = base + np.uint64(part * lanes) + here.lane
            given.best_parent[at] = given.parent[at]

    @device_function
    def parents_to(
        given,  # IN
        here,  # IN
        base,  # IN uint64
        target,  # OUT int32, flat
        start,  # IN uint64: where the tree starts in it, (nodes,)
    ):
        """Write the lane's nodes' parents."""
        for part in range(node_rounds):
            node = np.uint64(part * lanes) + here.lane
            target[start + node] = given.parent[base + node]

    return keep, parents_to
