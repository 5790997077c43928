"""Reweigh: update the tables to other weights, for the tree that they already belong to: O(nodes * cells).

The rows stay where they are, and so do the blocks. The cost is that of writing to a cache. Few proposals read
rows of weights, so these are written for such proposals alone.
"""

from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, control, device_function, maximum, private_array

_ONE = control(1)
_ZERO = control(0)
_LEAST = np.int32(-(2**31))


def make_reweigh(form: Form, classes: int) -> tuple[Any, Any]:
    """Return the device functions (reweigh, put_weights)."""
    rows = make_rows(form)
    raise_by_row, put_row = rows.raise_by_row, rows.put_row
    rounds, lanes = form.rounds, form.lanes
    telling = classes - 1

    @device_function
    def add_row(
        values,  # IN OUT (cells of a panel / lanes,) int32, private
        tables,  # IN (slots, rows, cells) int32, flat
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        at,  # IN control: where the row starts
    ):
        """Compute values = values + row."""
        start = column + address(at)
        for part in range(rounds):
            values[part] = np.int32(values[part] + tables[start + address(part * lanes)])

    @device_function
    def take_weights(
        values,  # OUT (cells of a panel / lanes,) int32, private
        slot,  # IN observed
        weights,  # IN (classes,) int32, private
        cell,  # IN address: the lane's first cell of the panel
        label,  # IN address
    ):
        """Load values = what a mutation adds to the cells below it."""
        observed = label * address(slot.here.sizes.cells) + cell
        for part in range(rounds):
            code = np.int32(slot.given.observed[observed + address(part * lanes)])
            weight = np.int32(0)
            for one in range(telling):
                weight = np.int32(weight + np.int32(code == np.int32(one)) * weights[one])
            values[part] = weight

    @device_function
    def own_weights(
        weights,  # OUT (classes,) int32, private
        slot,  # IN weights
    ):
        """Load the weights of the slot's rates."""
        own = slot.here.number * address(classes)
        for code in range(classes):
            weights[code] = np.int32(slot.given.weights[own + address(code)])

    @device_function
    def put_weights(
        slot,  # IN observed, weights; OUT tables
        label,  # IN control: the mutation
    ):
        """Write the row of weights of a mutation."""
        here = slot.here
        values = private_array(rounds, np.int32)
        weights = private_array(classes, np.int32)
        own_weights(weights, slot)
        row = here.layout.weights + label * here.sizes.cells
        for panel in range(here.sizes.panels):
            cell = address(panel * rounds * lanes) + here.lane
            take_weights(values, slot, weights, cell, address(label))
            put_row(values, slot.given.tables, here.table + cell, row)

    @device_function
    def put_forwards(
        best,  # OUT (cells of a panel / lanes,) int32, private
        values,  # OUT (cells of a panel / lanes,) int32, private: scratch
        slot,  # IN the tree and its order, observed, places; IN OUT tables
        weights,  # IN (classes,) int32, private
        cell,  # IN address: the lane's first cell of the panel
        first,  # IN control: start of the block
        stop,  # IN control: its end
    ):
        """Write the scores of a block, and the maxima from its start; `best` gets that of the block."""
        given, here, base = slot
        column = here.table + cell
        for part in range(rounds):
            best[part] = _LEAST
        for place in range(first, stop):
            label = address(control(given.order[base + address(place)]))
            above = address(control(given.position[base + address(control(given.parent[base + label]))]))
            row, row_above = row_at(given.places, base + address(place)), row_at(given.places, base + above)
            take_weights(values, slot, weights, cell, label)
            if place != _ZERO:
                add_row(values, given.tables, column, row_above)
            put_row(values, given.tables, column, row)
            for part in range(rounds):
                best[part] = maximum(best[part], values[part])
            put_row(best, given.tables, column, here.layout.prefix + row)

    @device_function
    def put_backwards(
        best,  # OUT (cells of a panel / lanes,) int32, private: scratch
        slot,  # IN places; IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        first,  # IN control: start of the block
        stop,  # IN control: its end
    ):
        """Write the maxima to the end of a block."""
        given = slot.given
        for part in range(rounds):
            best[part] = _LEAST
        for done in range(stop - first):
            row = row_at(given.places, slot.base + address(stop - _ONE - done))
            raise_by_row(best, given.tables, column, row)
            put_row(best, given.tables, column, slot.here.layout.suffix + row)

    @device_function
    def put_after(
        outside,  # OUT (cells of a panel / lanes,) int32, private: scratch
        slot,  # IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        blocks,  # IN control: number of blocks
    ):
        """Write the maxima over all later blocks."""
        given, here = slot.given, slot.here
        for part in range(rounds):
            outside[part] = np.int32(0)
        for done in range(blocks):
            number = blocks - _ONE - control(done)
            put_row(outside, given.tables, column, here.layout.after + number * here.sizes.cells)
            raise_by_row(outside, given.tables, column, here.layout.top + number * here.sizes.cells)

    @device_function
    def reweigh(
        slot,  # IN the tree and its order, observed, weights; OUT tables
    ):
        """Update scores and maxima, and leave rows of weights."""
        given, here, base = slot
        best = private_array(rounds, np.int32)
        outside = private_array(rounds, np.int32)
        values = private_array(rounds, np.int32)
        weights = private_array(classes, np.int32)
        own_weights(weights, slot)
        width = here.sizes.cells
        blocks = ((here.tree_nodes - _ONE) >> here.sizes.block_bits) + _ONE
        for panel in range(here.sizes.panels):
            cell = address(panel * rounds * lanes) + here.lane
            column = here.table + cell
            for part in range(rounds):
                outside[part] = np.int32(0)
            for number in range(blocks):
                at = base + address(number)
                first, stop = control(given.block_start[at]), control(given.block_start[at + address(1)])
                put_row(outside, given.tables, column, here.layout.before + control(number) * width)
                put_forwards(best, values, slot, weights, cell, first, stop)
                put_row(best, given.tables, column, here.layout.top + control(number) * width)
                for part in range(rounds):
                    outside[part] = maximum(outside[part], best[part])
                put_backwards(best, slot, column, first, stop)
            put_after(outside, slot, column, blocks)

    return reweigh, put_weights
