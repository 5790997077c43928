"""Exchange labels: positions keep their places, and two of them swap labels.

If the two nodes are unrelated, each interval shifts by the difference of the weights. If one is above the
other, the upper interval without the lower one shifts. The lower interval, which has both mutations, stays as
it is.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS
from syclade.kernels.preorder.changes import (
    ONE_IN_THE_OTHER,
    TWO_APART,
    Changes,
    Climbs,
    Moved,
    Runs,
)
from syclade.kernels.preorder.edits.edit import Edit
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tree.blocks import Blocks
from syclade.kernels.preorder.tree.intervals import interval_of
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.preorder.tree.touched import touched_by_shifts
from syclade.kernels.target import address, choose, control, device_function, less

_ZERO = control(0)
_NOBODY = control(-1)


def make_exchange_labels(_form: Form, _blocks: Blocks) -> Edit:
    """Return the edit for tables of this form."""

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return two intervals, x's being the first one (Moved)."""
        here = slot.here
        v, w = proposal.v, proposal.w
        place_v, end_v = interval_of(slot, v)
        place_w, end_w = interval_of(slot, w)
        w_first = less(place_w, place_v)
        x = choose(w_first, w, v)
        y = v + w - x
        a1 = choose(w_first, place_w, place_v)
        a2 = place_v + place_w - a1
        b1 = choose(w_first, end_w, end_v)
        b2 = end_v + end_w - b1
        zero, weights, width = here.layout.zero, here.layout.weights, here.sizes.cells
        row_x = weights + x * width
        row_y = weights + y * width
        nested = less(a2, b1)
        return Moved(
            choose(nested, ONE_IN_THE_OTHER, TWO_APART), x, a1, b1, y, a2, b2,
            choose(nested, a2, b1), choose(nested, b1, b2),
            row_y, row_x, choose(nested, zero, row_x), choose(nested, zero, row_y),
        )  # fmt: skip

    return Edit(EXCHANGE_LABELS, moved, None)


@device_function
def relabelled(
    slot,  # IN the tree before the edit
    moved,  # IN Moved
):
    """Return what the tables have to follow (Changes)."""
    given, base = slot.given, slot.base
    a1, b1, a2, b2 = moved.a1, moved.b1, moved.a2, moved.b2
    above_x = control(given.parent[base + address(moved.x)])
    above_y = control(given.parent[base + address(moved.y)])
    row_x = row_at(given.places, base + address(a1))
    row_y = row_at(given.places, base + address(a2))
    stop_1, start_2, stop_2, start_3, stop_3 = b1, _ZERO, _ZERO, a2, b2
    later, end_later = a2, b2
    node_1, node_2, shifted_from = above_x, above_y, slot.here.tree_nodes
    if a2 < b1:  # y is below x
        stop_1, start_2, stop_2, start_3, stop_3 = a2, b2, b1, _ZERO, _ZERO
        later, end_later = b2, b1
        node_1, node_2, shifted_from = above_y, _NOBODY, a1
        if above_y == moved.x:
            node_1 = moved.y  # which is then at x's position
    return Changes(
        Runs(
            a1,
            stop_1,
            start_2,
            stop_2,
            start_3,
            stop_3,
            moved.plus_1,
            moved.minus_1,
            moved.plus_2,
            moved.minus_2,
        ),
        touched_by_shifts(given.places, base, a1, stop_1, later, end_later),
        Climbs(node_1, row_x, row_x, node_2, row_y, row_y, shifted_from),
    )


@device_function
def exchanged(label, v, w):
    """Return w for v, v for w, and any other label unchanged (control)."""
    return label + control(label == v) * (w - v) + control(label == w) * (v - w)


def make_swap_labels(form: Form) -> Any:
    """Return the device function `swap_labels`."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)
    keeps_order = form.subtrees

    @device_function
    def swap_labels(
        slot,  # IN OUT parent, order (where it is kept), position, size, row_of
        moved,  # IN Moved
        above_x,  # IN control: parent of x before the edit
        above_y,  # IN control: parent of y before the edit
    ):
        """Swap x and y: positions keep their rows, labels change."""
        given, here, base = slot
        x, y, a1, a2 = moved.x, moved.y, moved.a1, moved.a2
        new_above_x = exchanged(above_y, x, y)
        new_above_y = exchanged(above_x, x, y)
        for part in range(here.sizes.labels >> lane_bits):
            at = address(part * lanes) + here.lane
            node = control(at)
            above = exchanged(control(given.parent[base + at]), x, y)
            above = above + control(node == x) * (new_above_x - above)
            above = above + control(node == y) * (new_above_y - above)
            given.parent[base + at] = np.int32(above)
        if keeps_order:
            given.order[base + address(a1)] = np.int32(y)
            given.order[base + address(a2)] = np.int32(x)
        given.position[base + address(x)] = np.int32(a2)
        given.position[base + address(y)] = np.int32(a1)
        given.row_of[base + address(x)] = np.int32(row_at(given.places, base + address(a2)))
        given.row_of[base + address(y)] = np.int32(row_at(given.places, base + address(a1)))
        given.size[base + address(x)] = np.int32(moved.b2 - a2)
        given.size[base + address(y)] = np.int32(moved.b1 - a1)

    return swap_labels
