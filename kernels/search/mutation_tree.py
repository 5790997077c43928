"""Mutation tree of a search: all that follows from the parents, and the scores of all attachments.

A node other than the root that is its own parent is not in the tree. Children are in the order of their
numbers, so everything follows from the parents alone.
"""

import numpy as np

from syclade.kernels.search.rows import add, add_to, copy, fill, raise_by, total
from syclade.kernels.search.slot import at_node
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)
_NONE = np.int32(-1)


@device_function
def parent_of(slot, node):
    """Return the parent (control)."""
    return control(slot.given.parent[at_node(slot, node)])


@device_function
def put_parent(
    slot,  # OUT parent
    node,  # IN control
    parent,  # IN control
):
    """Set the parent."""
    slot.given.parent[at_node(slot, node)] = np.int32(parent)


@device_function
def first_child_of(slot, node):
    """Return the first child (control); -1: none."""
    return control(slot.given.first_child[at_node(slot, node)])


@device_function
def next_sibling_of(slot, node):
    """Return the next sibling (control); -1: none."""
    return control(slot.given.next_sibling[at_node(slot, node)])


@device_function
def node_at(slot, place):
    """Return the node at a position of the preorder (control)."""
    return control(slot.given.order[at_node(slot, place)])


@device_function
def place_of(slot, node):
    """Return (position, end of the subtree), int64."""
    start = control(slot.given.position[at_node(slot, node)])
    return start, start + control(slot.given.size[at_node(slot, node)])


@device_function
def row_of(slot, node):
    """Return where a node's row over columns starts (address)."""
    return slot.rows + address(node * slot.cells)


@device_function
def weights_of(slot, mutation):
    """Return where a mutation's row of weights starts (address)."""
    return address(mutation * slot.cells)


@device_function
def number(slot):
    """Compute children, order, positions and sizes; return the number of nodes in the tree (int64)."""
    given = slot.given
    root = slot.root
    for node in range(root + _ONE):
        given.first_child[at_node(slot, node)] = _NONE
        given.next_sibling[at_node(slot, node)] = _NONE
        given.size[at_node(slot, node)] = np.int32(1)
    count = _ONE
    for done in range(root):
        node = root - _ONE - control(done)
        parent = parent_of(slot, node)
        if parent != node:
            given.next_sibling[at_node(slot, node)] = given.first_child[at_node(slot, parent)]
            given.first_child[at_node(slot, parent)] = np.int32(node)
            count = count + _ONE
    given.order[slot.tree] = np.int32(root)
    given.position[at_node(slot, root)] = np.int32(0)
    last = root
    for place in range(_ONE, count):
        child = first_child_of(slot, last)
        while child < _ZERO:
            child = next_sibling_of(slot, last)
            last = parent_of(slot, last)
        last = child
        given.order[at_node(slot, place)] = np.int32(last)
        given.position[at_node(slot, last)] = np.int32(place)
    for done in range(count - _ONE):
        node = node_at(slot, count - _ONE - control(done))
        at = at_node(slot, parent_of(slot, node))
        length = given.size[at] + given.size[at_node(slot, node)]
        given.size[at] = np.int32(length)
    return count


@device_function
def tree_score(slot):
    """Return the score with each column at its best node (int64)."""
    return total(slot, slot.cell_rounds, slot.given.maxima, row_of(slot, slot.root))


@device_function
def rebuild(slot):
    """Compute everything from the parents; return the score (int64)."""
    given = slot.given
    count = number(slot)
    rounds = slot.cell_rounds
    fill(slot, rounds, given.scores, row_of(slot, slot.root), np.int32(0))
    fill(slot, rounds, given.maxima, row_of(slot, slot.root), np.int32(0))
    for place in range(_ONE, count):
        node = node_at(slot, place)
        own, upper = row_of(slot, node), row_of(slot, parent_of(slot, node))
        add_to(slot, rounds, given.scores, own, given.scores, upper, given.weights, weights_of(slot, node))
        copy(slot, rounds, given.maxima, own, given.scores, own)
    for done in range(count - _ONE):
        node = node_at(slot, count - _ONE - control(done))
        upper = row_of(slot, parent_of(slot, node))
        raise_by(slot, rounds, given.maxima, upper, given.maxima, row_of(slot, node))
    return tree_score(slot)


@device_function
def renew_up(slot, node):
    """Renew the maxima of a node and of those above it."""
    given = slot.given
    rounds = slot.cell_rounds
    going = _ONE
    while going != _ZERO:
        own = row_of(slot, node)
        copy(slot, rounds, given.maxima, own, given.scores, own)
        child = first_child_of(slot, node)
        while child >= _ZERO:
            raise_by(slot, rounds, given.maxima, own, given.maxima, row_of(slot, child))
            child = next_sibling_of(slot, child)
        going = control(node != slot.root)
        node = parent_of(slot, node)


@device_function
def shift(
    slot,  # IN order, weights; IN OUT scores, maxima
    start,  # IN control: first position
    stop,  # IN control: end of the positions
    sign,  # IN int32: 1 or -1
    mutation,  # IN control
):
    """Add sign times a mutation's weights to the rows of the nodes at positions start ... stop-1."""
    given = slot.given
    rounds, weights = slot.cell_rounds, weights_of(slot, mutation)
    for place in range(start, stop):
        own = row_of(slot, node_at(slot, place))
        add(slot, rounds, given.scores, own, given.weights, weights, sign)
        add(slot, rounds, given.maxima, own, given.weights, weights, sign)


@device_function
def keep_best(slot, score):
    """Copy the tree to the best tree if its score is higher."""
    given = slot.given
    if score > given.best_score[slot.number]:
        given.best_score[slot.number] = score
        for node in range(slot.root + _ONE):
            at = at_node(slot, node)
            given.best_parent[at] = given.parent[at]
