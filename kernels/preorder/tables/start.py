"""Start: make all tables of a tree, for a chain that is new in its slot or whose rates have changed."""

from typing import Any

import numpy as np

from syclade.kernels.chain.slot import after_writes
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.renew import make_renew
from syclade.kernels.preorder.tree.blocks import Blocks
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


def make_start(form: Form, blocks: Blocks, extras: Extras) -> Any:
    """Return the device function `start_tables`."""
    renew_block, renew_around = make_renew(form)
    cut_anew, add_to_scores, fill_extras = blocks.cut_anew, extras.add_to_scores, extras.fill
    lanes, lane_bits, rounds = form.lanes, control(form.lane_bits), form.rounds

    @device_function
    def fill_constant_rows(slot):
        """Fill rows of zeros, and the weights of what was observed."""
        given, here = slot.given, slot.here
        zero, weight_rows = address(here.layout.zero), address(here.layout.weights)
        suffix, top = address(here.layout.suffix), address(here.layout.top)
        before, after = address(here.layout.before), address(here.layout.after)
        width = address(here.sizes.cells)
        root = address(row_at(given.places, slot.base))
        weights = here.number * address(here.sizes.classes)
        for part in range(here.sizes.cells >> lane_bits):
            cell = address(part * lanes) + here.lane
            at = here.table + cell
            given.tables[at + zero] = np.int32(0)
            given.tables[at + suffix + zero] = np.int32(0)
            given.tables[at + root] = np.int32(0)
            for number in range(here.sizes.blocks):  # also for blocks that the tree does not have
                given.tables[at + before + address(number) * width] = np.int32(0)
                given.tables[at + after + address(number) * width] = np.int32(0)
                given.tables[at + top + address(number) * width] = np.int32(0)
            for gene in range(here.sizes.nodes):
                own = address(gene) * width
                seen = address(given.observed[own + cell])
                given.tables[at + weight_rows + own] = np.int32(given.weights[weights + seen])

    @device_function
    def fill_scores(slot):
        """Fill every node's scores: its parent's plus its own weights."""
        given, here, base = slot
        weight_rows, width = address(here.layout.weights), address(here.sizes.cells)
        for place in range(_ONE, here.tree_nodes):
            label = address(given.order[base + address(place)])
            above = address(given.position[base + address(given.parent[base + label])])
            row_above = address(row_at(given.places, base + above))
            node = address(row_at(given.places, base + address(place)))
            for part in range(here.sizes.cells >> lane_bits):
                at = here.table + address(part * lanes) + here.lane
                weight = given.tables[at + weight_rows + label * width]
                given.tables[at + node] = np.int32(given.tables[at + row_above] + weight)

    @device_function
    def fill_maxima(slot):
        """Fill all running maxima, and the extras before and after them."""
        here = slot.here
        blocks_now = ((here.tree_nodes - _ONE) >> here.sizes.block_bits) + _ONE
        for panel in range(here.sizes.panels):
            column = here.table + address(panel * rounds * lanes) + here.lane
            add_to_scores(slot, panel)
            for number in range(blocks_now):
                renew_block(slot, column, control(number), _ZERO, here.tree_nodes, _ZERO)
            renew_around(slot, column, _ZERO, blocks_now - _ONE, blocks_now)
            fill_extras(slot, panel)

    @device_function
    def start_tables(
        slot,  # IN the tree, observed, weights; OUT everything else
    ):
        """Make everything that follows from the tree; padding gets the row of zeros."""
        given, here = slot.given, slot.here
        width = here.sizes.cells
        for part in range(here.sizes.nodes >> lane_bits):
            at = address(part * lanes) + here.lane
            own = control(at) * width
            padding = control(control(at) >= here.tree_nodes)
            given.places[slot.base + at] = own + padding * (here.layout.zero - own)
            given.row_of[slot.base + at] = np.int32(control(given.position[slot.base + at]) * width)
        cut_anew(slot)
        slot = after_writes(slot)
        fill_constant_rows(slot)
        fill_scores(slot)
        fill_maxima(slot)

    return start_tables
