"""Attachment: the best node of every column, and sums of a mutation's weights over what is below nodes."""

from typing import Any

import numpy as np

from syclade.kernels.search.mutation_tree import node_at, parent_of, place_of, row_of, weights_of
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.target import device_function, in_step

_ZERO = np.int64(0)
_ONE = np.int64(1)

BEST_ROW, NODE_ROW = 2, 3
"""Spare rows: the best scores, and the nodes that have them."""


def make_attach(lanes: int) -> Any:
    """Device function attach: the best node of every column, of equal ones the first in the order."""
    step = np.uint64(lanes)

    @device_function
    def attach(given, here, count):
        """For a tree of `count` nodes; where the nodes' row is (uint64)."""
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
    """The best node of a column (int64); `attached` is what `attach` returned."""
    return np.int64(given.cell_rows[attached + np.uint64(column)])


@device_function
def sum_weights(given, here, attached, v, count):
    """For mutation v, over a tree of `count` nodes without it: its columns and children go to its parent.

    gain: of its weights over the columns at or below each node; hope: what it would add as the node's child
    that takes those of the node's children below which it gains. What it adds where it is now is returned
    (int64).
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
