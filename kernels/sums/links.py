"""Links of a tree: parents, and children in ascending order.

Nodes are control integers, the same in all lanes. The order of children is that of their numbers, so that
sums over them do not depend on how a tree came about.
"""

import numpy as np

from syclade.kernels.target import address, control, device_function

NOBODY = control(-1)


@device_function
def parent_of(
    slot,  # IN parent
    node,  # IN control; may differ between lanes
):
    """Return the parent of a node (control); the root is its own parent."""
    return control(slot.given.parent[slot.base + address(node)])


@device_function
def first_of(
    slot,  # IN first_child
    node,  # IN control
):
    """Return the first child of a node, or NOBODY (control)."""
    return control(slot.given.first_child[slot.base + address(node)])


@device_function
def next_of(
    slot,  # IN next_sibling
    node,  # IN control
):
    """Return the next sibling of a node, or NOBODY (control)."""
    return control(slot.given.next_sibling[slot.base + address(node)])


@device_function
def link(
    slot,  # OUT first_child, next_sibling
    parent,  # IN control
    before,  # IN control: the sibling to go after; NOBODY: become the first child
    node,  # IN control, or NOBODY
):
    """Make a node follow another one among the children of their parent."""
    if before == NOBODY:
        slot.given.first_child[slot.base + address(parent)] = np.int32(node)
    else:
        slot.given.next_sibling[slot.base + address(before)] = np.int32(node)


@device_function
def detach(
    slot,  # IN parent; IN OUT first_child, next_sibling
    node,  # IN control, not the root
):
    """Take a node out of its siblings; return its parent (control)."""
    parent = parent_of(slot, node)
    before, child = NOBODY, first_of(slot, parent)
    while child != node:
        before, child = child, next_of(slot, child)
    link(slot, parent, before, next_of(slot, node))
    return parent


@device_function
def attach(
    slot,  # OUT parent; IN OUT first_child, next_sibling
    node,  # IN control, detached
    parent,  # IN control
):
    """Make a node a child of another one."""
    before, child = NOBODY, first_of(slot, parent)
    while (child != NOBODY) & (child < node):
        before, child = child, next_of(slot, child)
    slot.given.next_sibling[slot.base + address(node)] = np.int32(child)
    slot.given.parent[slot.base + address(node)] = np.int32(parent)
    link(slot, parent, before, node)


@device_function
def adopt(
    slot,  # OUT parent; IN OUT first_child
    node,  # IN control
    first,  # IN control: the first of its new children, or NOBODY
):
    """Give a node the children of another one."""
    slot.given.first_child[slot.base + address(node)] = np.int32(first)
    while first != NOBODY:
        slot.given.parent[slot.base + address(first)] = np.int32(node)
        first = next_of(slot, first)
