"""What an accepted move changes: runs of the preorder, sizes, and shifted positions."""

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.find_parent import branch_towards
from syclade.kernels.proposal import (
    PRUNE_AND_REATTACH,
    SWAP_RELATED_SUBTREES,
    SWAP_UNRELATED_SUBTREES,
)

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_UNRELATED = np.int64(SWAP_UNRELATED_SUBTREES)
_RELATED = np.int64(SWAP_RELATED_SUBTREES)
_ZERO = np.int64(0)
_ONE = np.int64(1)


@dpex.device_func
def new_place(
    parent,  # IN (slots, nodes) int32, flat
    position,  # IN (slots, nodes) int32, flat
    size,  # IN (slots, nodes) int32, flat
    base,  # IN uint64
    v,  # IN int64
    a,  # IN int64: v's interval
    b,
    t,  # IN int64
):
    """Where a pruned run goes: (start of the change, end of the change, 1 if the run goes to its end).

    Any place among t's children is legal; this is the nearest.
    """
    place_t = np.int64(position[base + np.uint64(t)])
    end_t = place_t + np.int64(size[base + np.uint64(t)])
    if place_t > a:
        return a, place_t + _ONE, _ONE
    if end_t <= a:
        return end_t, b, _ZERO
    # t is above v: go before or behind the branch of t that holds v.
    branch = np.uint64(branch_towards(parent, base, t, v))
    first = np.int64(position[base + branch])
    last = first + np.int64(size[base + branch])
    if last - a < b - first:
        return a, last, _ONE
    return first, b, _ZERO


@dpex.device_func
def permutation(
    parent,  # IN (slots, nodes) int32, flat
    position,  # IN (slots, nodes) int32, flat
    size,  # IN (slots, nodes) int32, flat
    base,  # IN uint64
    kind,  # IN int64
    v,  # IN int64
    t,  # IN int64
    a1,  # IN int64: the intervals, as in intervals.py
    b1,
    a2,
    b2,
):
    """Runs in their new order: four starts, the end, and each run's old less new place (9 int64)."""
    if kind == _PRUNE:
        length = b1 - a1
        start, stop, to_end = new_place(parent, position, size, base, v, a1, b1, t)
        if to_end == _ONE:
            run = stop - length
            return start, run, stop, stop, stop, length, a1 - run, _ZERO, _ZERO
        return start, start + length, stop, stop, stop, a1 - start, -length, _ZERO, _ZERO
    if kind == _UNRELATED:
        middle = a1 + b2 - a2
        last = middle + a2 - b1
        return a1, middle, last, b2, b2, a2 - a1, b1 - middle, a1 - last, _ZERO
    if kind == _RELATED:
        place_t = np.int64(position[base + np.uint64(t)])
        second = a1 + place_t - a2 + _ONE
        third = second + a2 - a1
        fourth = third + b1 - b2
        return a1, second, third, fourth, b1, a2 - a1, a1 - second, b2 - third, place_t + _ONE - fourth
    return _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO


@dpex.device_func
def growth(
    parent,  # IN (slots, nodes) int32, flat
    position,  # IN (slots, nodes) int32, flat
    base,  # IN uint64
    kind,  # IN int64
    x,  # IN int64
    y,
    t,
    a1,  # IN int64
    b1,
    a2,
    b2,
):
    """How sizes change: twice (by how much, above which position, from which position on), int64."""
    under_x = np.int64(position[base + np.uint64(parent[base + np.uint64(x)])])
    under_y = np.int64(position[base + np.uint64(parent[base + np.uint64(y)])])
    place_t = np.int64(position[base + np.uint64(t)])
    first = b1 - a1
    second = b2 - a2
    if kind == _PRUNE:
        return -first, under_x, _ZERO, first, place_t, _ZERO
    if kind == _UNRELATED:
        return second - first, under_x, _ZERO, first - second, under_y, _ZERO
    if kind == _RELATED:
        return -second, under_y, a1, first - second, place_t, a2
    return _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO


@dpex.device_func
def shifted_runs(
    kind,  # IN int64
    a1,  # IN int64
    b1,
    a2,
    b2,
    start_1,  # IN int64: of the permutation
    start_2,
    start_3,
    start_4,
    stop,
    offset_1,
):
    """New places of what is shifted: two runs by one shift, one run by the other (six int64).

    The first two runs go by shift 2 in related swaps of subtrees, else by shift 1.
    """
    if kind == _PRUNE:
        if start_1 + offset_1 == a1:  # the run goes to the start
            return start_1, start_2, _ZERO, _ZERO, _ZERO, _ZERO
        return start_2, stop, _ZERO, _ZERO, _ZERO, _ZERO
    if kind == _UNRELATED:
        return start_3, stop, _ZERO, _ZERO, start_1, start_2
    if kind == _RELATED:
        return start_1, start_2, start_4, stop, start_2, start_4
    if a2 < b1:
        return a1, a2, b2, b1, _ZERO, _ZERO
    return a1, b1, _ZERO, _ZERO, a2, b2
