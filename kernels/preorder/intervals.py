"""Which intervals of the preorder a move shifts, and by which rows (SCIENCE.md 4)."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout
from syclade.kernels.preorder.shapes import ONE_IN_THE_OTHER, ONE_INTERVAL, TWO_APART
from syclade.kernels.preorder.uniform import choose, equal, less
from syclade.kernels.proposal import PRUNE_AND_REATTACH, SWAP_LABELS, SWAP_RELATED_SUBTREES

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_LABELS = np.int64(SWAP_LABELS)
_RELATED = np.int64(SWAP_RELATED_SUBTREES)
_ZERO = np.int64(0)


def make_intervals(nodes: int, cells: int, block: int) -> Callable[..., Any]:
    """Device function for the tables' layout."""
    layout = make_layout(nodes, cells, block)
    width = np.int64(cells)
    zero = np.int64(layout.zero)
    weights = np.int64(layout.weights)

    @dpex.device_func
    def moved_intervals(
        parent,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        row_of,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        kind,  # IN int64
        v,  # IN int64
        w,  # IN int64: the upper node of a related swap
        t,  # IN int64
    ):
        """What score_mapping takes, with the nodes whose subtrees the two intervals are.

        (shape, x, a1, b1, y, a2, b2, end of the first shift, end, plus_1, minus_1, plus_2, minus_2), int64.
        """
        place_v = np.int64(position[base + np.uint64(v)])
        end_v = place_v + np.int64(size[base + np.uint64(v)])
        above_v = np.uint64(parent[base + np.uint64(v)])
        row_above_v = np.int64(row_of[base + above_v])
        row_t = np.int64(row_of[base + np.uint64(t)])
        if kind == _PRUNE:
            return (
                ONE_INTERVAL, v, place_v, end_v, v, _ZERO, _ZERO, end_v, end_v,
                row_t, row_above_v, zero, zero,
            )  # fmt: skip
        place_w = np.int64(position[base + np.uint64(w)])
        end_w = place_w + np.int64(size[base + np.uint64(w)])
        above_w = np.uint64(parent[base + np.uint64(w)])
        row_above_w = np.int64(row_of[base + above_w])
        if kind == _RELATED:
            return (
                ONE_IN_THE_OTHER, w, place_w, end_w, v, place_v, end_v, place_v, end_w,
                row_t, row_above_v, row_above_w, row_above_v,
            )  # fmt: skip
        w_first = less(place_w, place_v)
        x = choose(w_first, w, v)
        y = v + w - x
        a1 = choose(w_first, place_w, place_v)
        a2 = place_v + place_w - a1
        b1 = choose(w_first, end_w, end_v)
        b2 = end_v + end_w - b1
        labels = equal(kind, _LABELS)
        row_x = choose(labels, weights + x * width, choose(w_first, row_above_w, row_above_v))
        row_y = choose(labels, weights + y * width, choose(w_first, row_above_v, row_above_w))
        nested = labels & less(a2, b1)
        return (
            choose(nested, ONE_IN_THE_OTHER, TWO_APART), x, a1, b1, y, a2, b2,
            choose(nested, a2, b1), choose(nested, b1, b2),
            row_y, row_x, choose(nested, zero, row_x), choose(nested, zero, row_y),
        )  # fmt: skip

    return moved_intervals


@dpex.device_func
def third_interval(
    shape,  # IN int64: TWO_APART or ONE_IN_THE_OTHER
    a1,  # IN int64
    b1,
    a2,
    b2,
    end_first,
    plus_1,
    minus_1,
):
    """(start, end, plus_3), int64: an interval that is shifted by row plus_3 less row minus_1.

    What lies between two apart, which is not shifted; or behind the inner of one in the other, shifted as the
    first part is. Where there is nothing, the first part again.
    """
    apart = equal(shape, TWO_APART)
    start = choose(apart, b1, b2)
    end = choose(apart, a2, b1)
    some = less(start, end)
    return choose(some, start, a1), choose(some, end, end_first), choose(apart & some, minus_1, plus_1)
