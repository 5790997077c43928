"""Permute: an edit permutes at most four runs of the preorder (docs/model.md, "Intervals").

Lanes share the nodes. Values that other lanes may still read are written to `fresh` first and copied after a
barrier. Positions and sizes are in renumber.py. The order follows from the positions; few steps need it.
"""

from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, apart_from, control, device_function


def make_permute(form: Form) -> tuple[Any, Any]:
    """Return the device functions (permute, take_permuted); they write the order only if it is kept."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)
    all_lanes = control(lanes - 1)
    keeps_order = form.subtrees

    @device_function
    def permute(
        slot,  # IN order, places; OUT fresh
        runs,  # IN Permutation
    ):
        """Write the lane's part of the changed places to `fresh`."""
        given, here = slot.given, slot.here
        first = np.int32(apart_from(runs.start_1))
        second = np.int32(apart_from(runs.start_2))
        third = np.int32(apart_from(runs.start_3))
        fourth = np.int32(apart_from(runs.start_4))
        behind = np.int32(apart_from(runs.stop))
        add_1 = np.int32(apart_from(runs.offset_1))
        add_2 = np.int32(apart_from(runs.offset_2 - runs.offset_1))
        add_3 = np.int32(apart_from(runs.offset_3 - runs.offset_2))
        add_4 = np.int32(apart_from(runs.offset_4 - runs.offset_3))
        for part in range(runs.start_1 >> lane_bits, (runs.stop + all_lanes) >> lane_bits):
            at = address(part * lanes) + here.lane
            place = np.int32(at)
            offset = np.int32(add_1 + np.int32(np.int32(place >= second) * add_2))
            offset = np.int32(offset + np.int32(np.int32(place >= third) * add_3))
            offset = np.int32(offset + np.int32(np.int32(place >= fourth) * add_4))
            inside = np.int32(np.int32(place >= first) & np.int32(place < behind))
            source = slot.base + address(control(np.int32(place + np.int32(inside * offset))))
            given.fresh[here.fresh + at] = given.places[source]
            if keeps_order:
                given.fresh[here.fresh + address(here.sizes.nodes) + at] = np.int64(given.order[source])

    @device_function
    def take_permuted(
        slot,  # IN fresh; OUT order, places
        start,  # IN control: start of the change
        stop,  # IN control: end of the change
    ):
        """Make the changed places the current ones."""
        given, here, base = slot
        for part in range(start >> lane_bits, (stop + all_lanes) >> lane_bits):
            at = address(part * lanes) + here.lane
            given.places[base + at] = given.fresh[here.fresh + at]
            if keeps_order:
                given.order[base + at] = np.int32(given.fresh[here.fresh + address(here.sizes.nodes) + at])

    return permute, take_permuted
