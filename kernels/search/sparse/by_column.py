"""Scores of all attachments with a row per column, beside the rows per node of `mutation_tree.py`.

Most moves concern few columns. What a few columns gain at all nodes is read from their own rows, one number
per node, so a move takes time in proportion to these columns instead of all.
"""

import numpy as np

from syclade.kernels.search.arguments import PARAMETERS
from syclade.kernels.search.mutation_tree import node_at, parent_of
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.search.slot import lane_at
from syclade.kernels.search.sparse.arguments import MORE_ROWS, NODE_ROWS
from syclade.kernels.target import address, control, device_function, in_step, maximum

MASK, GAIN, SPARE = control(0), control(1), control(2)
"""Rows over nodes: LOWEST for the nodes of the moving subtree, else 0; gains; one number per lane."""

LISTED = control(0)
"""Row over columns: the columns that a move concerns."""

_ONE = control(1)
_NODES = address(PARAMETERS.index("nodes"))
_NODE_ROWS, _MORE_ROWS = address(NODE_ROWS), address(MORE_ROWS)


@device_function
def nodes_of(slot):
    """Return the width of a row over nodes (address)."""
    return address(slot.given.parameters[_NODES])


@device_function
def node_rounds_of(slot):
    """Return this width divided by the number of lanes (control)."""
    return control(nodes_of(slot) // slot.lanes)


@device_function
def node_row(slot, number):
    """Return where a row over nodes starts in `node_rows` (address)."""
    return (slot.number * _NODE_ROWS + address(number)) * nodes_of(slot)


@device_function
def more_row(slot, number):
    """Return where a row over columns starts in `more_rows` (address)."""
    return (slot.number * _MORE_ROWS + address(number)) * address(slot.cells)


@device_function
def scores_of(slot, column):
    """Return where a column's row of scores starts (address)."""
    return (slot.number * address(slot.columns) + address(column)) * nodes_of(slot)


@device_function
def lay_out(
    slot,  # IN order, parent, columns; IN OUT column_scores
    start,  # IN control: first position, at least 1
    stop,  # IN control: end of the positions
):
    """Compute the columns' scores at the nodes of some positions; those of their parents are known."""
    given = slot.given
    for column in range(slot.columns):
        row = scores_of(slot, control(column))
        weights = address(control(column) * slot.genes)
        for place in range(start, stop):
            node = node_at(slot, control(place))
            upper = given.column_scores[row + address(parent_of(slot, node))]
            given.column_scores[row + address(node)] = np.int32(
                upper + given.columns[weights + address(node)]
            )


@device_function
def prepare_columns(slot):
    """Compute all scores of a whole tree by columns, and clear the mask."""
    given = slot.given
    rounds, root, mask = node_rounds_of(slot), address(slot.root), node_row(slot, MASK)
    for column in range(slot.columns):
        row = scores_of(slot, control(column))
        for part in range(rounds):
            given.column_scores[row + lane_at(slot, part)] = LOWEST  # stays at nodes that are padding
        given.column_scores[in_step(row) + root] = np.int32(0)
    for part in range(rounds):
        given.node_rows[mask + lane_at(slot, part)] = np.int32(0)
    lay_out(slot, _ONE, slot.root + _ONE)


@device_function
def mask_subtree(
    slot,  # IN order; OUT node_rows
    start,  # IN control: first position of the subtree
    stop,  # IN control: its end
    value,  # IN int32: LOWEST to mask it, 0 to end that
):
    """Set the mask at the nodes of a subtree."""
    mask = node_row(slot, MASK)
    for place in range(start, stop):
        slot.given.node_rows[mask + address(node_at(slot, control(place)))] = value


@device_function
def best_outside(
    slot,  # IN column_scores, node_rows: the mask
    column,  # IN control
):
    """Return the column's best score at the nodes that are not masked (int32)."""
    given = slot.given
    row, mask, spare = scores_of(slot, column), node_row(slot, MASK), node_row(slot, SPARE)
    highest = np.int32(given.column_scores[row + slot.lane] + given.node_rows[mask + slot.lane])
    for part in range(_ONE, node_rounds_of(slot)):
        node = lane_at(slot, part)
        highest = maximum(highest, np.int32(given.column_scores[row + node] + given.node_rows[mask + node]))
    given.node_rows[spare + slot.lane] = highest
    first = in_step(spare)
    best = given.node_rows[first]
    for lane in range(_ONE, control(slot.lanes)):
        best = max(best, given.node_rows[first + address(lane)])
    return np.int32(best)
