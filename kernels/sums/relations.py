"""Queries of moves about the tree, answered from its links (`chain.parts.Relations`)."""

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.sums.links import parent_of
from syclade.kernels.sums.walk import first_below, next_after
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def is_descendant(
    slot,  # IN parent
    node,  # IN control
    ancestor,  # IN control
):
    """Return 1 if `ancestor` is the node itself or above it, else 0 (control)."""
    root = slot.here.root
    while (node != ancestor) & (node != root):
        node = parent_of(slot, node)
    return control(node == ancestor)


@device_function
def subtree_size(
    slot,  # IN size
    node,  # IN control
):
    """Return the number of nodes in the node's subtree, itself included (control)."""
    return control(slot.given.size[slot.base + address(node)])


@device_function
def mark_subtree(
    slot,  # IN parent, first_child, next_sibling, size; OUT fresh
    node,  # IN control
    mark,  # IN int32
):
    """Write the mark of all nodes of a subtree."""
    below = first_below(slot, node)
    for turn in range(subtree_size(slot, node)):
        slot.given.fresh[slot.base + address(below)] = mark
        if below != node:
            below = next_after(slot, below)


@device_function
def select(
    slot,  # IN the tree; IN OUT fresh: scratch, all 0 before and after
    node,  # IN control
    inside,  # IN control: 1 to select in the subtree, 0 to select outside of it
    rank,  # IN control: counted from 0
):
    """Return the rank-th node in the subtree, or outside of it, in order of node numbers (control)."""
    mark_subtree(slot, node, np.int32(1))
    chosen, left = _ZERO, rank + _ONE
    while left > _ZERO:
        fits = control(slot.given.fresh[slot.base + address(chosen)]) == inside
        left = left - control(fits)
        chosen = chosen + _ONE
    mark_subtree(slot, node, np.int32(0))
    return chosen - _ONE


RELATIONS = Relations(is_descendant, subtree_size, select, parent_of)
