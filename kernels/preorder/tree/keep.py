"""Keep: the tree is the best one yet."""

from typing import Any

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, control, device_function


def make_keep(form: Form) -> Any:
    """Device function keep."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def keep(
        given,  # IN parent; OUT best_parent
        here,  # IN
        base,  # IN address
    ):
        """Take the tree for the best one."""
        for part in range(here.sizes.labels >> lane_bits):
            at = base + address(part * lanes) + here.lane
            given.best_parent[at] = given.parent[at]

    return keep
