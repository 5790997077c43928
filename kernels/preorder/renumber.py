"""Renumber: nodes get new positions and sizes by arithmetic, each lane its own nodes (SCIENCE.md 4).

Sizes change above the places that a subtree has left and joined.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.uniform import apart_from


def make_renumber(labels: int, lanes: int) -> Callable[..., Any]:
    """Device function renumber for trees of up to `labels` nodes."""
    rounds = labels // lanes

    @dpex.device_func
    def renumber(
        position,  # IN OUT (slots, nodes) int32, flat
        size,  # IN OUT (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
        start_1,  # IN int64: the runs, as in `permute` (tree_update.py)
        start_2,
        start_3,
        start_4,
        stop,
        offset_1,
        offset_2,
        offset_3,
        offset_4,
        growth_1,  # IN int64: what nodes above position place_1 (itself included) gain in size …
        place_1,
        floor_1,  # IN int64: … if their own position is at least floor_1
        growth_2,
        place_2,
        floor_2,
    ):
        """New positions and sizes, a lane those of its own nodes."""
        run_1 = np.int32(apart_from(start_1 + offset_1))
        run_2 = np.int32(apart_from(start_2 + offset_2))
        run_3 = np.int32(apart_from(start_3 + offset_3))
        run_4 = np.int32(apart_from(start_4 + offset_4))
        length_1 = np.uint32(apart_from(start_2 - start_1))
        length_2 = np.uint32(apart_from(start_3 - start_2))
        length_3 = np.uint32(apart_from(start_4 - start_3))
        length_4 = np.uint32(apart_from(stop - start_4))
        back_1 = np.int32(apart_from(offset_1))
        back_2 = np.int32(apart_from(offset_2))
        back_3 = np.int32(apart_from(offset_3))
        back_4 = np.int32(apart_from(offset_4))
        grows_1 = np.int32(apart_from(growth_1))
        under_1 = np.int32(apart_from(place_1))
        from_1 = np.int32(apart_from(floor_1))
        grows_2 = np.int32(apart_from(growth_2))
        under_2 = np.int32(apart_from(place_2))
        from_2 = np.int32(apart_from(floor_2))
        for part in range(rounds):
            at = base + np.uint64(part * lanes) + lane
            begin = position[at]
            length = size[at]
            over_1 = np.int32(np.uint32(np.int32(under_1 - begin)) < np.uint32(length))
            over_2 = np.int32(np.uint32(np.int32(under_2 - begin)) < np.uint32(length))
            more_1 = np.int32(np.int32(over_1 & np.int32(begin >= from_1)) * grows_1)
            more_2 = np.int32(np.int32(over_2 & np.int32(begin >= from_2)) * grows_2)
            size[at] = np.int32(length + np.int32(more_1 + more_2))
            back = np.int32(np.int32(np.uint32(np.int32(begin - run_1)) < length_1) * back_1)
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_2)) < length_2) * back_2))
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_3)) < length_3) * back_3))
            back = np.int32(back + np.int32(np.int32(np.uint32(np.int32(begin - run_4)) < length_4) * back_4))
            position[at] = np.int32(begin - back)

    return renumber


def make_fill_order(labels: int, lanes: int) -> Callable[..., Any]:
    """Device function fill_order for trees of up to `labels` nodes."""
    rounds = labels // lanes

    @dpex.device_func
    def fill_order(
        order,  # OUT (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
    ):
        """The order, from the nodes' positions."""
        for part in range(rounds):
            label = np.uint64(part * lanes) + lane
            order[base + np.uint64(position[base + label])] = np.int32(label)

    return fill_order
