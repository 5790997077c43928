"""Copies of a tree's parents: the best tree, and trees that leave the chain."""

from typing import Any

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, control, device_function


def make_copies(form: Form) -> tuple[Any, Any]:
    """Device functions (keep, parents_to)."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def keep(given, here, base):
        """Take the tree for the best one."""
        for part in range(here.sizes.labels >> lane_bits):
            at = base + address(part * lanes) + here.lane
            given.best_parent[at] = given.parent[at]

    @device_function
    def parents_to(
        given,  # IN
        here,  # IN
        base,  # IN address
        target,  # OUT int32, flat
        start,  # IN address: where the tree starts in it, (nodes,)
    ):
        """Write the lane's nodes' parents."""
        for part in range(here.sizes.nodes >> lane_bits):
            node = address(part * lanes) + here.lane
            target[start + node] = given.parent[base + node]

    return keep, parents_to
