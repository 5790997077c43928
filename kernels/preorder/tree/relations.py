"""Queries of moves, answered by intervals (`chain.parts.Relations`)."""

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, apart_from, control, device_function, lane_count, lane_rank


@device_function
def is_descendant(
    slot,  # IN position, size
    node,  # IN control
    ancestor,  # IN control
):
    """Return 1 if `ancestor` is the node itself or above it, else 0 (control).

    This is one comparison of intervals.
    """
    given, base = slot.given, slot.base
    start = control(given.position[base + address(ancestor)])
    offset = control(given.position[base + address(node)]) - start
    return control(np.uint64(offset) < np.uint64(given.size[base + address(ancestor)]))


@device_function
def subtree_size(
    slot,  # IN size
    node,  # IN control
):
    """Return the number of nodes in the subtree, itself included (control)."""
    return control(slot.given.size[slot.base + address(node)])


@device_function
def parent_of(
    slot,  # IN parent
    node,  # IN control; may differ between lanes
):
    """Return the parent (control)."""
    return control(slot.given.parent[slot.base + address(node)])


def make_relations(form: Form) -> Relations:
    """Return the device functions for trees of any size."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def select(
        slot,  # IN position, size
        node,  # IN control
        inside,  # IN control: 1 for nodes in its subtree, 0 for the others
        rank,  # IN control: counted from 0
    ):
        """Return the rank-th node inside or outside the subtree, in order of node numbers (control)."""
        given, here, base = slot
        start = np.int32(apart_from(control(given.position[base + address(node)])))
        length = np.uint32(apart_from(control(given.size[base + address(node)])))
        wanted = np.int32(apart_from(inside))
        tree_nodes = np.int32(apart_from(here.tree_nodes))
        last = np.int32(apart_from(rank))
        seen = np.int32(0)
        smaller = np.int32(0)  # number of the lane's nodes before the wanted one
        for part in range(here.sizes.labels >> lane_bits):
            label = address(part * lanes) + here.lane
            offset = np.uint32(np.int32(given.position[base + label] - start))
            fits = np.int32(np.int32(offset < length) == wanted)
            fits = np.int32(fits & np.int32(np.int32(label) < tree_nodes))
            smaller = np.int32(smaller + np.int32(np.int32(seen + lane_rank(fits)) <= last))
            seen = np.int32(seen + lane_count(fits))
        return control(lane_count(smaller))

    return Relations(is_descendant, subtree_size, select, parent_of)
