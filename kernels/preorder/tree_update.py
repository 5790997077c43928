"""Tree update: a move permutes at most four runs of the preorder (SCIENCE.md 4).

Lanes share the nodes. What other lanes may still read is written to `fresh` first and taken over behind a
barrier. Positions and sizes are in renumber.py. The order follows from the positions; few steps ask for it.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.uniform import apart_from
from syclade.kernels.proposal import PRUNE_AND_REATTACH, SWAP_UNRELATED_SUBTREES

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_UNRELATED = np.int64(SWAP_UNRELATED_SUBTREES)


@dpex.device_func
def exchanged(label, v, w):
    """v for w, w for v, any other label for itself (int64)."""
    return label + np.int64(label == v) * (w - v) + np.int64(label == w) * (v - w)


@dpex.device_func
def reattach(
    parent,  # IN OUT (slots, nodes) int32, flat
    base,  # IN uint64: where the slot's tree starts
    kind,  # IN int64: any move but a swap of labels
    x,  # IN int64: the nodes
    y,
    t,
    above_x,  # IN int64: their parents
    above_y,
):
    """Give the moved nodes their new parents."""
    new_above_x = t
    if kind == _UNRELATED:
        new_above_x = above_y
    parent[base + np.uint64(x)] = np.int32(new_above_x)
    if kind != _PRUNE:
        parent[base + np.uint64(y)] = np.int32(above_x)


def make_tree_update(nodes: int, labels: int, lanes: int, keeps_order: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (permute, take_permuted, swap_labels) for trees of up to `labels` nodes.

    They write the order only if `keeps_order` is 1.
    """
    rounds = labels // lanes
    stride = np.uint64(nodes)
    lane_bits = np.int64(lanes.bit_length() - 1)
    all_lanes = np.int64(lanes - 1)

    @dpex.device_func
    def permute(
        order,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        fresh,  # OUT (slots, 2, nodes) int64, flat: places, order
        base,  # IN uint64: where the slot's tree starts
        fresh_base,  # IN uint64: likewise in fresh
        lane,  # IN uint64
        start_1,  # IN int64: the first run's new place (where the change begins), the next runs' …
        start_2,
        start_3,
        start_4,
        stop,  # IN int64: end of the change
        offset_1,  # IN int64: old less new place of the first run, and so on
        offset_2,
        offset_3,
        offset_4,
    ):
        """Write the lane's part of the changed places."""
        first = np.int32(apart_from(start_1))
        second = np.int32(apart_from(start_2))
        third = np.int32(apart_from(start_3))
        fourth = np.int32(apart_from(start_4))
        behind = np.int32(apart_from(stop))
        add_1 = np.int32(apart_from(offset_1))
        add_2 = np.int32(apart_from(offset_2 - offset_1))
        add_3 = np.int32(apart_from(offset_3 - offset_2))
        add_4 = np.int32(apart_from(offset_4 - offset_3))
        for part in range(start_1 >> lane_bits, (stop + all_lanes) >> lane_bits):
            at = np.uint64(part * lanes) + lane
            here = np.int32(at)
            offset = np.int32(add_1 + np.int32(np.int32(here >= second) * add_2))
            offset = np.int32(offset + np.int32(np.int32(here >= third) * add_3))
            offset = np.int32(offset + np.int32(np.int32(here >= fourth) * add_4))
            inside = np.int32(np.int32(here >= first) & np.int32(here < behind))
            source = base + np.uint64(np.int64(np.int32(here + np.int32(inside * offset))))
            fresh[fresh_base + at] = places[source]
            if keeps_order:
                fresh[fresh_base + stride + at] = np.int64(order[source])

    @dpex.device_func
    def take_permuted(
        order,  # OUT (slots, nodes) int32, flat
        places,  # OUT (slots, nodes) int64, flat
        fresh,  # IN (slots, 2, nodes) int64, flat
        base,  # IN uint64
        fresh_base,  # IN uint64
        lane,  # IN uint64
        start,  # IN int64: the change
        stop,
    ):
        """Make the changed places the current ones."""
        for part in range(start >> lane_bits, (stop + all_lanes) >> lane_bits):
            at = np.uint64(part * lanes) + lane
            places[base + at] = fresh[fresh_base + at]
            if keeps_order:
                order[base + at] = np.int32(fresh[fresh_base + stride + at])

    @dpex.device_func
    def swap_labels(
        parent,  # IN OUT (slots, nodes) int32, flat
        order,  # OUT (slots, nodes) int32, flat
        position,  # OUT (slots, nodes) int32, flat
        size,  # OUT (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        row_of,  # OUT (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
        x,  # IN int64: the nodes, the first one first in the order
        y,
        above_x,  # IN int64: their parents
        above_y,
        a1,  # IN int64: their intervals
        b1,
        a2,
        b2,
    ):
        """x and y change places: positions keep their rows, labels change."""
        new_above_x = exchanged(above_y, x, y)
        new_above_y = exchanged(above_x, x, y)
        for part in range(rounds):
            at = np.uint64(part * lanes) + lane
            here = np.int64(at)
            above = exchanged(np.int64(parent[base + at]), x, y)
            above = above + np.int64(here == x) * (new_above_x - above)
            above = above + np.int64(here == y) * (new_above_y - above)
            parent[base + at] = np.int32(above)
        if keeps_order:
            order[base + np.uint64(a1)] = np.int32(y)
            order[base + np.uint64(a2)] = np.int32(x)
        position[base + np.uint64(x)] = np.int32(a2)
        position[base + np.uint64(y)] = np.int32(a1)
        row_of[base + np.uint64(x)] = np.int32(row_at(places, base + np.uint64(a2)))
        row_of[base + np.uint64(y)] = np.int32(row_at(places, base + np.uint64(a1)))
        size[base + np.uint64(x)] = np.int32(b2 - a2)
        size[base + np.uint64(y)] = np.int32(b1 - a1)

    return permute, take_permuted, swap_labels
