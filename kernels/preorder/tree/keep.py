"""Keep: store the tree as the best one yet."""

from typing import Any

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, control, device_function


def make_keep(form: Form) -> Any:
    """Return the device function `keep`."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def keep(
        slot,  # IN parent; OUT best_parent
    ):
        """Copy the tree to the best tree."""
        given, here = slot.given, slot.here
        for part in range(here.sizes.labels >> lane_bits):
            at = slot.base + address(part * lanes) + here.lane
            given.best_parent[at] = given.parent[at]

    return keep
