"""Start: all tables of a tree, for a chain that has just come to its slot."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.blocks import make_blocks
from syclade.kernels.preorder.layout import count_blocks, has_sketches, make_layout, panels_of
from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.renew import make_renew
from syclade.kernels.preorder.sketches import make_sketches
from syclade.kernels.preorder.subtree_maxima import make_subtree_maxima
from syclade.kernels.sub_group import in_step

_ONE = np.int64(1)


def make_start(nodes: int, cells: int, block: int, lanes: int) -> Callable[..., Any]:
    """Device function start_tables."""
    _joins, _exchange, _move_to_block, cut_anew = make_blocks(nodes, block, lanes)
    renew_block, _may_have_lost, renew_around = make_renew(nodes, cells, block, lanes)
    sketch_row = make_sketches(cells, lanes).sketch_row
    fill_subtrees, _climb, _reaches = make_subtree_maxima(nodes, cells, block, lanes)
    layout = make_layout(nodes, cells, block)
    zero, weight_rows, suffix = np.uint64(layout.zero), np.uint64(layout.weights), np.uint64(layout.suffix)
    top, most_blocks = np.uint64(layout.top), count_blocks(nodes, block)
    before, after = np.uint64(layout.before), np.uint64(layout.after)
    width = np.uint64(cells)
    panels, rounds = panels_of(cells, lanes)
    sketches = int(has_sketches(cells))
    block_bits = np.int64(block.bit_length() - 1)

    @dpex.device_func
    def fill_tables(
        tables,  # OUT (slots, rows, cells) int32, flat
        sketch,  # OUT (slots, sketched, cells) int16, flat
        weights,  # IN (nodes, cells) int32, flat
        parent,  # IN (slots, nodes) int32, flat
        order,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        table,  # IN uint64: where the slot's tables start
        sketch_table,  # IN uint64: where the slot's sketches start
        tree_nodes,  # IN int64
        lane,  # IN uint64
    ):
        """All tables from the tree alone."""
        blocks = ((tree_nodes - _ONE) >> block_bits) + _ONE
        root = np.uint64(row_at(places, base))
        for part in range(cells // lanes):
            cell = np.uint64(part * lanes) + lane
            at = table + cell
            tables[at + zero] = np.int32(0)
            tables[at + suffix + zero] = np.int32(0)
            tables[at + root] = np.int32(0)
            for number in range(most_blocks):  # also of blocks that the tree has not got
                tables[at + before + np.uint64(number) * width] = np.int32(0)
                tables[at + after + np.uint64(number) * width] = np.int32(0)
                tables[at + top + np.uint64(number) * width] = np.int32(0)
            for gene in range(nodes):
                weight = weights[np.uint64(gene) * width + cell]
                tables[at + weight_rows + np.uint64(gene) * width] = weight
        for place in range(_ONE, tree_nodes):
            label = np.uint64(order[base + np.uint64(place)])
            above = np.uint64(
                row_at(places, base + np.uint64(position[base + np.uint64(parent[base + label])]))
            )
            node = np.uint64(row_at(places, base + np.uint64(place)))
            for part in range(cells // lanes):
                at = table + np.uint64(part * lanes) + lane
                weight = tables[at + weight_rows + label * width]
                tables[at + node] = np.int32(tables[at + above] + weight)
        for panel in range(panels):
            column = table + np.uint64(panel * rounds * lanes) + lane
            for number in range(blocks):
                renew_block(
                    tables, places, block_start, base, column, np.int64(number),
                    np.int64(0), tree_nodes, np.int64(0),
                )  # fmt: skip
            renew_around(tables, column, np.int64(0), blocks - _ONE, blocks)
            if sketches:
                sketch_column = sketch_table + np.uint64(panel * rounds * lanes) + lane
                sketch_row(tables, sketch, column, sketch_column, np.int64(zero))
                for gene in range(nodes):
                    weight_row = np.int64(weight_rows) + np.int64(gene * cells)
                    sketch_row(tables, sketch, column, sketch_column, weight_row)
                fill_subtrees(tables, sketch, order, size, places, base, column, sketch_column, tree_nodes)

    @dpex.device_func
    def start_tables(
        tables,  # OUT (slots, rows, cells) int32, flat
        sketch,  # OUT (slots, sketched, cells) int16, flat
        weights,  # IN (nodes, cells) int32, flat
        parent,  # IN (slots, nodes) int32, flat
        order,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # OUT (slots, nodes) int64, flat
        row_of,  # OUT (slots, nodes) int32, flat
        block_start,  # OUT (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        table,  # IN uint64: where the slot's tables start
        sketch_table,  # IN uint64: where the slot's sketches start
        tree_nodes,  # IN int64
        lane,  # IN uint64
    ):
        """Everything that follows from the tree; padding has the row of zeros."""
        for part in range(nodes // lanes):
            at = np.uint64(part * lanes) + lane
            own = np.int64(at * width)
            padding = np.int64(np.int64(at) >= tree_nodes)
            places[base + at] = own + padding * (np.int64(zero) - own)
            row_of[base + at] = np.int32(np.int64(position[base + at]) * np.int64(cells))
        cut_anew(places, block_start, base, lane, tree_nodes)
        base = in_step(base)
        fill_tables(
            tables, sketch, weights, parent, order, position, size, places, block_start,
            base, table, sketch_table, tree_nodes, lane,
        )  # fmt: skip

    return start_tables
