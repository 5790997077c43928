"""Links between parents and children, and how they change. Nodes are control integers, the same in all lanes.

Leaves are the nodes 0 ... m-1, for m cells. Internal nodes, with two children each, are m ... 2m-2; the last
one is the root. The numbers of the other internal nodes, and which child is the left one, have no meaning.
"""

import numpy as np

from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of


@device_function
def parent_of(
    slot,  # IN parent
    node,  # IN control; may differ between lanes
):
    """Return the parent of a node (control); the root is its own parent."""
    return control(slot.given.parent[slot.base + address(node)])


@device_function
def other_child(
    slot,  # IN left, right
    joint,  # IN control: the internal node
    child,  # IN control
):
    """Return the child of an internal node that is not this one (control)."""
    given = slot.given
    at = slot.base + address(joint)
    return control(given.left[at] ^ given.right[at]) ^ child


@device_function
def is_below(
    slot,  # IN some_leaf, clade, size
    node,  # IN control
    ancestor,  # IN control
):
    """Return 1 if `ancestor` is the node itself or above it, else 0 (control).

    Of two nodes that have a cell in common, the one with more cells is above the other.
    """
    given, here, base = slot
    leaf = np.uint64(given.some_leaf[base + address(node)])
    word = here.clade + address(ancestor * here.sizes.words) + (leaf >> WORD_SHIFT)
    common = bit_of(given.clade[word], leaf)
    larger = given.size[base + address(ancestor)] >= given.size[base + address(node)]
    return control(common) * control(larger)


@device_function
def put_child(
    slot,  # IN OUT left, right; OUT parent
    joint,  # IN control: the internal node
    old,  # IN control: the child to replace
    new,  # IN control: the new child
):
    """Replace a child of an internal node."""
    given, base = slot.given, slot.base
    at = base + address(joint)
    if control(given.left[at]) == old:
        given.left[at] = np.int32(new)
    else:
        given.right[at] = np.int32(new)
    given.parent[base + address(new)] = np.int32(joint)


@device_function
def put_children(
    slot,  # OUT left, right, parent
    joint,  # IN control: the internal node
    one,  # IN control: the left child
    other,  # IN control: the right child
):
    """Make two nodes the children of an internal node."""
    given, base = slot.given, slot.base
    at = base + address(joint)
    given.left[at] = np.int32(one)
    given.right[at] = np.int32(other)
    given.parent[base + address(one)] = np.int32(joint)
    given.parent[base + address(other)] = np.int32(joint)
