"""Mutation tree of a search: all that follows from the parents, and the scores of all attachments.

A node other than the root that is its own parent is not in the tree. Children are in the order of their
numbers, so everything follows from the parents alone.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.rows import make_rows
from syclade.kernels.target import device_function

_ZERO = np.int64(0)
_ONE = np.int64(1)
_NONE = np.int32(-1)


class MutationTree(NamedTuple):
    """Device functions; `tree_nodes` is the number of nodes in the tree.

    Attributes:
        number: (given, here) -> tree_nodes: compute lists of children, order, positions and sizes from the
            parents.
        rebuild: (given, here) -> score: do the same, and compute all rows.
        renew_up: (given, here, node): renew the maxima of a node and of those above it, from their
            children's.
        shift: (given, here, start, stop, sign, mutation): add sign times a mutation's weights to the rows of
            the nodes at these positions.
        score: (given, here) -> int64.
        row: (here, node) -> uint64, where the node's row starts.
    """

    number: Any
    rebuild: Any
    renew_up: Any
    shift: Any
    score: Any
    row: Any


@device_function
def parent_of(given, here, node):
    """Return the parent (int64)."""
    return np.int64(given.parent[here.tree + np.uint64(node)])


@device_function
def put_parent(
    given,  # OUT parent
    here,  # IN Here
    node,  # IN int64
    parent,  # IN int64
):
    """Set the parent."""
    given.parent[here.tree + np.uint64(node)] = np.int32(parent)


@device_function
def is_absent(given, here, node):
    """Return whether the node, which is not the root, is out of the tree."""
    return parent_of(given, here, node) == node


@device_function
def node_at(given, here, place):
    """Return the node at a position of the preorder (int64)."""
    return np.int64(given.order[here.tree + np.uint64(place)])


@device_function
def place_of(given, here, node):
    """Return (position, end of the subtree), int64."""
    start = np.int64(given.position[here.tree + np.uint64(node)])
    return start, start + np.int64(given.size[here.tree + np.uint64(node)])


@device_function
def row_of(here, node):
    """Return where a node's row over columns starts (uint64)."""
    return here.rows + np.uint64(node * here.cells)


@device_function
def weights_of(here, mutation):
    """Return where a mutation's row of weights starts (uint64)."""
    return np.uint64(mutation * here.cells)


@device_function
def number(given, here):
    """Compute children, order, positions and sizes; return the number of nodes in the tree (int64)."""
    tree, root = here.tree, here.root
    for node in range(root + _ONE):
        given.first_child[tree + np.uint64(node)] = _NONE
        given.next_sibling[tree + np.uint64(node)] = _NONE
        given.size[tree + np.uint64(node)] = np.int32(1)
    count = _ONE
    for done in range(root):
        node = root - _ONE - np.int64(done)
        parent = parent_of(given, here, node)
        if parent != node:
            given.next_sibling[tree + np.uint64(node)] = given.first_child[tree + np.uint64(parent)]
            given.first_child[tree + np.uint64(parent)] = np.int32(node)
            count = count + _ONE
    given.order[tree] = np.int32(root)
    given.position[tree + np.uint64(root)] = np.int32(0)
    at_node = root
    for place in range(_ONE, count):
        child = np.int64(given.first_child[tree + np.uint64(at_node)])
        while child < _ZERO:
            child = np.int64(given.next_sibling[tree + np.uint64(at_node)])
            at_node = parent_of(given, here, at_node)
        at_node = child
        given.order[tree + np.uint64(place)] = np.int32(at_node)
        given.position[tree + np.uint64(at_node)] = np.int32(place)
    for done in range(count - _ONE):
        node = node_at(given, here, count - _ONE - np.int64(done))
        at = tree + np.uint64(parent_of(given, here, node))
        length = given.size[at] + given.size[tree + np.uint64(node)]
        given.size[at] = np.int32(length)
    return count


def make_mutation_tree(lanes: int) -> MutationTree:
    """Return the device functions for this number of lanes."""
    rows = make_rows(lanes)
    fill, copy, add_to, raise_by, add = rows.fill, rows.copy, rows.add_to, rows.raise_by, rows.add
    total = rows.total

    @device_function
    def score(given, here):
        """Return the score with each column at its best node (int64)."""
        return total(here.cell_rounds, here.lane, given.maxima, row_of(here, here.root))

    @device_function
    def rebuild(given, here):
        """Compute everything from the parents; return the score (int64)."""
        count = number(given, here)
        rounds, lane = here.cell_rounds, here.lane
        fill(rounds, lane, given.scores, row_of(here, here.root), np.int32(0))
        fill(rounds, lane, given.maxima, row_of(here, here.root), np.int32(0))
        for place in range(_ONE, count):
            node = node_at(given, here, place)
            own, upper = row_of(here, node), row_of(here, parent_of(given, here, node))
            add_to(
                rounds, lane, given.scores, own, given.scores, upper, given.weights, weights_of(here, node)
            )
            copy(rounds, lane, given.maxima, own, given.scores, own)
        for done in range(count - _ONE):
            node = node_at(given, here, count - _ONE - np.int64(done))
            upper = row_of(here, parent_of(given, here, node))
            raise_by(rounds, lane, given.maxima, upper, given.maxima, row_of(here, node))
        return score(given, here)

    @device_function
    def renew_up(given, here, node):
        """Renew the maxima of a node and of those above it."""
        rounds, lane = here.cell_rounds, here.lane
        going = _ONE
        while going != _ZERO:
            own = row_of(here, node)
            copy(rounds, lane, given.maxima, own, given.scores, own)
            child = np.int64(given.first_child[here.tree + np.uint64(node)])
            while child >= _ZERO:
                raise_by(rounds, lane, given.maxima, own, given.maxima, row_of(here, child))
                child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
            going = np.int64(node != here.root)
            node = parent_of(given, here, node)

    @device_function
    def shift(
        given,  # IN order, weights; IN OUT scores, maxima
        here,  # IN Here
        start,  # IN int64: first position
        stop,  # IN int64: end of the positions
        sign,  # IN int32: 1 or -1
        mutation,  # IN int64
    ):
        """Add sign times a mutation's weights to the rows of the nodes at positions start ... stop-1."""
        rounds, lane, weights = here.cell_rounds, here.lane, weights_of(here, mutation)
        for place in range(start, stop):
            own = row_of(here, node_at(given, here, place))
            add(rounds, lane, given.scores, own, given.weights, weights, sign)
            add(rounds, lane, given.maxima, own, given.weights, weights, sign)

    return MutationTree(number, rebuild, renew_up, shift, score, row_of)


@device_function
def keep_best(given, here, score):
    """Copy the tree to the best tree if its score is higher."""
    if score > given.best_score[here.number]:
        given.best_score[here.number] = score
        for node in range(here.root + _ONE):
            at = here.tree + np.uint64(node)
            given.best_parent[at] = given.parent[at]
