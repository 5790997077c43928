"""Attachment: the best node of each column, and sums of a mutation's weights over what is below nodes."""

from typing import Any

import numpy as np

from syclade.kernels.search.mutation_tree import node_at, parent_of, place_of, row_of, weights_of
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.target import device_function, in_step

_ZERO = np.int64(0)
_ONE = np.int64(1)

BEST_ROW, NODE_ROW = 2, 3
"""Spare rows of the best scores and of the nodes that have them."""


def make_attach(lanes: int) -> Any:
    """Return the device function `attach`, which finds the best node of each column.

    Among equal nodes it is the first in preorder.
    """
    step = np.uint64(lanes)

    @device_function
    def attach(given, here, count):
        """Attach the columns to a tree of `count` nodes; return where the row of nodes starts (uint64)."""
        best = here.spare_cells + np.uint64(np.int64(BEST_ROW) * here.cells)
        nodes = here.spare_cells + np.uint64(np.int64(NODE_ROW) * here.cells)
        for part in range(here.cell_rounds):
            cell = np.uint64(part) * step + here.lane
            given.cell_rows[best + cell] = LOWEST
        for place in range(count):
            node = node_at(given, here, np.int64(place))
            own = row_of(here, node)
            name = np.int32(node)
            for part in range(here.cell_rounds):
                cell = np.uint64(part) * step + here.lane
                value, old = given.scores[own + cell], given.cell_rows[best + cell]
                higher = np.int32(value > old)
                held = given.cell_rows[nodes + cell]
                given.cell_rows[best + cell] = np.int32(old + np.int32(higher * np.int32(value - old)))
                given.cell_rows[nodes + cell] = np.int32(held + np.int32(higher * np.int32(name - held)))
        return in_step(nodes)

    return attach


@device_function
def node_of_column(given, attached, column):
    """Return the best node of a column (int64); `attached` is the result of `attach`."""
    return np.int64(given.cell_rows[attached + np.uint64(column)])


@device_function
def sum_weights(
    given,  # IN parent, order, position, size, weights, cell_rows; OUT gain, hope
    here,  # IN Here
    attached,  # IN uint64: result of `attach`
    v,  # IN int64: the mutation
    count,  # IN int64: number of nodes in the tree
):
    """Sum mutation v's weights over a tree without v, whose columns and children go to its parent.

    `gain` gets the sum of v's weights over the columns at or below each node. `hope` gets what v would add as
    a child of the node, if it took those of the node's children below which it gains. Returns what v adds at
    its present place (int64).
    """
    tree, old = here.tree, parent_of(given, here, v)
    for node in range(here.root + _ONE):
        given.gain[tree + np.uint64(node)] = _ZERO
        given.hope[tree + np.uint64(node)] = _ZERO
    start, stop = _ZERO, _ZERO
    if old != v:
        start, stop = place_of(given, here, v)
    now = _ZERO
    weights = weights_of(here, v)
    for column in range(here.columns):
        weight = np.int64(given.weights[weights + np.uint64(column)])
        node = node_of_column(given, attached, np.int64(column))
        place = np.int64(given.position[tree + np.uint64(node)])
        if (place >= start) & (place < stop):
            now = now + weight
        if node == v:
            node = old
        at = tree + np.uint64(node)
        gain, hope = given.gain[at] + weight, given.hope[at] + max(weight, _ZERO)
        given.gain[at] = gain
        given.hope[at] = hope
    for done in range(count - _ONE):
        node = node_at(given, here, count - _ONE - np.int64(done))
        if node != v:
            above = parent_of(given, here, node)
            if above == v:
                above = old
            at = tree + np.uint64(above)
            own = given.gain[tree + np.uint64(node)]
            gain, hope = given.gain[at] + own, given.hope[at] + max(own, _ZERO)
            given.gain[at] = gain
            given.hope[at] = hope
    return now
