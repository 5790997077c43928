"""Attachment: the best node of each column, and sums of a mutation's weights over what is below nodes."""

import numpy as np

from syclade.kernels.search.mutation_tree import node_at, parent_of, place_of, row_of, weights_of
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.search.slot import at_node, lane_at, spare_row
from syclade.kernels.target import address, control, device_function, in_step

_ZERO = control(0)
_ONE = control(1)

BEST_ROW, NODE_ROW = control(2), control(3)
"""Spare rows of the best scores and of the nodes that have them."""


@device_function
def attach(slot, count):
    """Attach the columns to a tree of `count` nodes; return where the row of nodes starts (address)."""
    given = slot.given
    best = spare_row(slot, BEST_ROW)
    nodes = spare_row(slot, NODE_ROW)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        given.cell_rows[best + cell] = LOWEST
    for place in range(count):
        node = node_at(slot, control(place))
        own = row_of(slot, node)
        name = np.int32(node)
        for part in range(slot.cell_rounds):
            cell = lane_at(slot, part)
            value, old = given.scores[own + cell], given.cell_rows[best + cell]
            higher = np.int32(value > old)
            held = given.cell_rows[nodes + cell]
            given.cell_rows[best + cell] = np.int32(old + np.int32(higher * np.int32(value - old)))
            given.cell_rows[nodes + cell] = np.int32(held + np.int32(higher * np.int32(name - held)))
    return in_step(nodes)


@device_function
def node_of_column(slot, attached, column):
    """Return the best node of a column (int64); `attached` is the result of `attach`."""
    return control(slot.given.cell_rows[attached + address(column)])


@device_function
def sum_weights(
    slot,  # IN parent, order, position, size, weights, cell_rows; OUT gain, hope
    attached,  # IN address: result of `attach`
    v,  # IN control: the mutation
    count,  # IN control: number of nodes in the tree
):
    """Sum mutation v's weights over a tree without v, whose columns and children go to its parent.

    `gain` gets the sum of v's weights over the columns at or below each node. `hope` gets what v would add as
    a child of the node, if it took those of the node's children below which it gains. Returns what v adds at
    its present place (int64).
    """
    given = slot.given
    old = parent_of(slot, v)
    for node in range(slot.root + _ONE):
        given.gain[at_node(slot, node)] = _ZERO
        given.hope[at_node(slot, node)] = _ZERO
    start, stop = _ZERO, _ZERO
    if old != v:
        start, stop = place_of(slot, v)
    now = _ZERO
    weights = weights_of(slot, v)
    for column in range(slot.columns):
        weight = np.int64(given.weights[weights + address(column)])
        node = node_of_column(slot, attached, control(column))
        place = control(given.position[at_node(slot, node)])
        if (place >= start) & (place < stop):
            now = now + weight
        if node == v:
            node = old
        at = at_node(slot, node)
        gain, hope = given.gain[at] + weight, given.hope[at] + max(weight, _ZERO)
        given.gain[at] = gain
        given.hope[at] = hope
    for done in range(count - _ONE):
        node = node_at(slot, count - _ONE - control(done))
        if node != v:
            above = parent_of(slot, node)
            if above == v:
                above = old
            at = at_node(slot, above)
            own = given.gain[at_node(slot, node)]
            gain, hope = given.gain[at] + own, given.hope[at] + max(own, _ZERO)
            given.gain[at] = gain
            given.hope[at] = hope
    return now
