"""Start: all tables of a tree, for a chain that has just come to its slot, or whose rates have changed."""

from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.renew import make_renew
from syclade.kernels.preorder.tree.blocks import Blocks
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import device_function, in_step

_ZERO = np.int64(0)
_ONE = np.int64(1)


def make_start(form: Form, blocks: Blocks, extras: Extras) -> Any:
    """Device function start_tables."""
    renew_block, renew_around = make_renew(form)
    cut_anew, fill_extras = blocks.cut_anew, extras.fill
    lanes, lane_bits, rounds = form.lanes, np.int64(form.lane_bits), form.rounds

    @device_function
    def fill_constant_rows(given, here, base):
        """Rows of zeros, and the weights of what was observed."""
        zero, weight_rows = np.uint64(here.layout.zero), np.uint64(here.layout.weights)
        suffix, top = np.uint64(here.layout.suffix), np.uint64(here.layout.top)
        before, after = np.uint64(here.layout.before), np.uint64(here.layout.after)
        width = np.uint64(here.sizes.cells)
        root = np.uint64(row_at(given.places, base))
        weights = here.number * np.uint64(here.sizes.classes)
        for part in range(here.sizes.cells >> lane_bits):
            cell = np.uint64(part * lanes) + here.lane
            at = here.table + cell
            given.tables[at + zero] = np.int32(0)
            given.tables[at + suffix + zero] = np.int32(0)
            given.tables[at + root] = np.int32(0)
            for number in range(here.sizes.blocks):  # also of blocks that the tree has not got
                given.tables[at + before + np.uint64(number) * width] = np.int32(0)
                given.tables[at + after + np.uint64(number) * width] = np.int32(0)
                given.tables[at + top + np.uint64(number) * width] = np.int32(0)
            for gene in range(here.sizes.nodes):
                own = np.uint64(gene) * width
                seen = np.uint64(given.observed[own + cell])
                given.tables[at + weight_rows + own] = np.int32(given.weights[weights + seen])

    @device_function
    def fill_scores(given, here, base):
        """Every node's scores: its parent's and its own weights."""
        weight_rows, width = np.uint64(here.layout.weights), np.uint64(here.sizes.cells)
        for place in range(_ONE, here.tree_nodes):
            label = np.uint64(given.order[base + np.uint64(place)])
            above = np.uint64(given.position[base + np.uint64(given.parent[base + label])])
            row_above = np.uint64(row_at(given.places, base + above))
            node = np.uint64(row_at(given.places, base + np.uint64(place)))
            for part in range(here.sizes.cells >> lane_bits):
                at = here.table + np.uint64(part * lanes) + here.lane
                weight = given.tables[at + weight_rows + label * width]
                given.tables[at + node] = np.int32(given.tables[at + row_above] + weight)

    @device_function
    def fill_maxima(given, here, base):
        """All running maxima."""
        blocks_now = ((here.tree_nodes - _ONE) >> here.sizes.block_bits) + _ONE
        for panel in range(here.sizes.panels):
            column = here.table + np.uint64(panel * rounds * lanes) + here.lane
            for number in range(blocks_now):
                renew_block(given, here, base, column, np.int64(number), _ZERO, here.tree_nodes, _ZERO)
            renew_around(given.tables, here, column, _ZERO, blocks_now - _ONE, blocks_now)
            fill_extras(given, here, base, panel)

    @device_function
    def start_tables(
        given,  # IN the tree, observed, weights; OUT all else
        here,  # IN
        base,  # IN uint64
    ):
        """Everything that follows from the tree; padding has the row of zeros."""
        width = here.sizes.cells
        for part in range(here.sizes.nodes >> lane_bits):
            at = np.uint64(part * lanes) + here.lane
            own = np.int64(at) * width
            padding = np.int64(np.int64(at) >= here.tree_nodes)
            given.places[base + at] = own + padding * (here.layout.zero - own)
            given.row_of[base + at] = np.int32(np.int64(given.position[base + at]) * width)
        cut_anew(given, here, base)
        base = in_step(base)
        fill_constant_rows(given, here, base)
        fill_scores(given, here, base)
        fill_maxima(given, here, base)

    return start_tables
