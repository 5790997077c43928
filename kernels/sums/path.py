"""Path: the nodes whose rows a proposal changes, children before their parents."""

import numpy as np

from syclade.kernels.sums.links import parent_of
from syclade.kernels.sums.walk import first_below, next_after
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)
_ON_PATH = np.int32(1)
_OFF_PATH = np.int32(0)


@device_function
def is_on_path(
    slot,  # IN fresh
    node,  # IN control
):
    """Return 1 if a node is on the path, else 0 (control)."""
    return control(slot.given.fresh[slot.base + address(node)])


@device_function
def append(
    slot,  # OUT path, fresh
    count,  # IN control: nodes of the path so far
    node,  # IN control
):
    """Append a node to the path; return the number of its nodes (control)."""
    slot.given.path[slot.base + address(count)] = np.int32(node)
    slot.given.fresh[slot.base + address(node)] = _ON_PATH
    return count + _ONE


@device_function
def meeting_of(
    slot,  # IN parent; IN OUT fresh: scratch, all 0 before and after
    one,  # IN control
    other,  # IN control
):
    """Return the lowest node that is above both, or one of them (control)."""
    root = slot.here.root
    node = one
    slot.given.fresh[slot.base + address(root)] = _ON_PATH
    while node != root:
        slot.given.fresh[slot.base + address(node)] = _ON_PATH
        node = parent_of(slot, node)
    met = other
    while is_on_path(slot, met) == _ZERO:
        met = parent_of(slot, met)
    node = one
    while node != root:
        slot.given.fresh[slot.base + address(node)] = _OFF_PATH
        node = parent_of(slot, node)
    slot.given.fresh[slot.base + address(root)] = _OFF_PATH
    return met


@device_function
def path_above(
    slot,  # IN parent; OUT path, fresh
    one,  # IN control
    other,  # IN control
):
    """Make the path of two nodes and all nodes above them; return its length (control)."""
    root = slot.here.root
    met = meeting_of(slot, one, other)
    count = _ZERO
    node = one
    while node != met:
        count = append(slot, count, node)
        node = parent_of(slot, node)
    node = other
    while node != met:
        count = append(slot, count, node)
        node = parent_of(slot, node)
    while node != root:
        count = append(slot, count, node)
        node = parent_of(slot, node)
    return append(slot, count, root)


@device_function
def path_of_all(
    slot,  # IN parent, first_child, next_sibling; OUT path, fresh
):
    """Make the path of all nodes; return its length (control)."""
    root = slot.here.root
    node = first_below(slot, root)
    count = _ZERO
    while node != root:
        count = append(slot, count, node)
        node = next_after(slot, node)
    return append(slot, count, root)


@device_function
def leave_path(
    slot,  # IN path; OUT fresh
    count,  # IN control: length of the path
):
    """Forget which nodes are on the path; `path` itself stays."""
    for at in range(count):
        node = control(slot.given.path[slot.base + address(at)])
        slot.given.fresh[slot.base + address(node)] = _OFF_PATH


@device_function
def take_fresh_rows(
    slot,  # IN path, first_child, next_sibling; IN OUT side, size
    count,  # IN control: length of the path
):
    """Make the rows that were written along the path the current ones, and update sizes of subtrees."""
    given, base = slot.given, slot.base
    for at in range(count):
        node = address(given.path[base + address(at)])
        given.side[base + node] = np.int32(1) - given.side[base + node]
        size = np.int32(1)
        child = control(given.first_child[base + node])
        while child >= _ZERO:
            size = np.int32(size + given.size[base + address(child)])
            child = control(given.next_sibling[base + address(child)])
        given.size[base + node] = size
