"""Renumber: compute new positions and sizes of nodes by arithmetic; each lane has its own nodes.

Sizes change above the places that a subtree has left and joined.
"""

from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, apart_from, control, device_function


def make_renumber(form: Form) -> Any:
    """Return the device function `renumber`."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def renumber(
        slot,  # IN OUT position, size
        runs,  # IN Permutation
        growth,  # IN Growth
    ):
        """Update positions and sizes of the lane's nodes."""
        given, here = slot.given, slot.here
        run_1 = np.int32(apart_from(runs.start_1 + runs.offset_1))
        run_2 = np.int32(apart_from(runs.start_2 + runs.offset_2))
        run_3 = np.int32(apart_from(runs.start_3 + runs.offset_3))
        run_4 = np.int32(apart_from(runs.start_4 + runs.offset_4))
        length_1 = np.uint32(apart_from(runs.start_2 - runs.start_1))
        length_2 = np.uint32(apart_from(runs.start_3 - runs.start_2))
        length_3 = np.uint32(apart_from(runs.start_4 - runs.start_3))
        length_4 = np.uint32(apart_from(runs.stop - runs.start_4))
        back_1 = np.int32(apart_from(runs.offset_1))
        back_2 = np.int32(apart_from(runs.offset_2))
        back_3 = np.int32(apart_from(runs.offset_3))
        back_4 = np.int32(apart_from(runs.offset_4))
        grows_1 = np.int32(apart_from(growth.growth_1))
        under_1 = np.int32(apart_from(growth.place_1))
        from_1 = np.int32(apart_from(growth.floor_1))
        grows_2 = np.int32(apart_from(growth.growth_2))
        under_2 = np.int32(apart_from(growth.place_2))
        from_2 = np.int32(apart_from(growth.floor_2))
        for part in range(here.sizes.labels >> lane_bits):
            at = slot.base + address(part * lanes) + here.lane
            begin = given.position[at]
            length = given.size[at]
            over_1 = np.int32(np.uint32(np.int32(under_1 - begin)) < np.uint32(length))
            over_2 = np.int32(np.uint32(np.int32(under_2 - begin)) < np.uint32(length))
            more_1 = np.int32(np.int32(over_1 & np.int32(begin >= from_1)) * grows_1)
            more_2 = np.int32(np.int32(over_2 & np.int32(begin >= from_2)) * grows_2)
            given.size[at] = np.int32(length + np.int32(more_1 + more_2))
            back = np.int32(np.int32(np.uint32(np.int32(begin - run_1)) < length_1) * back_1)
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_2)) < length_2) * back_2))
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_3)) < length_3) * back_3))
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_4)) < length_4) * back_4))
            given.position[at] = np.int32(begin - back)

    return renumber


def make_fill_order(form: Form) -> Any:
    """Return the device function `fill_order`."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def fill_order(
        slot,  # IN position; OUT order
    ):
        """Fill the order from the nodes' positions."""
        given, here, base = slot
        for part in range(here.sizes.labels >> lane_bits):
            label = address(part * lanes) + here.lane
            given.order[base + address(given.position[base + label])] = np.int32(label)

    return fill_order
