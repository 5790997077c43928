"""Rebuild: after an accepted move, shift the moved rows and renew the maxima of the blocks that changed.

Every lane works on its own cells alone, so no barrier is needed inside. The innermost loops go along a row:
running maxima in registers would make each row a chain of waits on memory.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout

_ONE = np.int64(1)


def make_rebuild(nodes: int, cells: int, block: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (fill_tables, rebuild)."""
    layout = make_layout(nodes, block)
    width = np.uint64(cells)
    rounds = cells // lanes
    block_bits = np.int64(block.bit_length() - 1)
    prefix, suffix = np.uint64(layout.prefix), np.uint64(layout.suffix)
    before, after = np.uint64(layout.before), np.uint64(layout.after)
    zero, weight_rows, shift_rows = np.uint64(layout.zero), np.uint64(layout.weights), np.uint64(layout.shift)

    @dpex.device_func
    def greater_row(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        column,  # IN uint64: the lane's first cell in the first row of the slot's tables
        target,  # IN uint64: row to write
        first,  # IN uint64: rows to take the maximum of
        second,
    ):
        """target = max(first, second), cell by cell."""
        for part in range(rounds):
            at = column + np.uint64(part * lanes)
            tables[at + target * width] = max(tables[at + first * width], tables[at + second * width])

    @dpex.device_func
    def renew_block(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        column,  # IN uint64: the lane's first cell in the first row of the slot's tables
        number,  # IN int64: the block
    ):
        """Running maxima of one block, from both sides."""
        at = base + np.uint64(number)
        first = np.int64(block_start[at])
        end = np.int64(block_start[at + np.uint64(1)])
        last_node = np.uint64(row[base + np.uint64(first)])
        greater_row(tables, column, prefix + last_node, last_node, last_node)
        for place in range(first + _ONE, end):
            node = np.uint64(row[base + np.uint64(place)])
            greater_row(tables, column, prefix + node, node, prefix + last_node)
            last_node = node
        greater_row(tables, column, suffix + last_node, last_node, last_node)
        for step in range(_ONE, end - first):
            node = np.uint64(row[base + np.uint64(end - _ONE - np.int64(step))])
            greater_row(tables, column, suffix + node, node, suffix + last_node)
            last_node = node

    @dpex.device_func
    def renew_blocks_around(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        column,  # IN uint64
        blocks,  # IN int64: how many there are
    ):
        """Maxima over all earlier and all later blocks; the root's 0 counts everywhere."""
        greater_row(tables, column, before, zero, zero)
        for number in range(_ONE, blocks):
            end = np.uint64(block_start[base + np.uint64(number)]) - np.uint64(1)
            node = np.uint64(row[base + end])
            at = before + np.uint64(number)
            greater_row(tables, column, at, at - np.uint64(1), prefix + node)
        greater_row(tables, column, after + np.uint64(blocks - _ONE), zero, zero)
        for step in range(_ONE, blocks):
            earlier = np.uint64(blocks - _ONE - np.int64(step))
            node = np.uint64(row[base + np.uint64(block_start[base + earlier + np.uint64(1)])])
            at = after + earlier
            greater_row(tables, column, at, at + np.uint64(1), suffix + node)

    @dpex.device_func
    def fill_tables(
        tables,  # OUT (slots, rows, cells) int32, flat
        weights,  # IN (nodes, cells) int32, flat
        parent,  # IN (slots, nodes) int32, flat
        order,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        table,  # IN uint64: where the slot's tables start
        tree_nodes,  # IN int64
        lane,  # IN uint64
    ):
        """All tables from the tree alone."""
        column = table + lane
        root = np.uint64(row[base])
        for part in range(rounds):
            at = column + np.uint64(part * lanes)
            tables[at + zero * width] = np.int32(0)
            tables[at + (suffix + zero) * width] = np.int32(0)
            tables[at + root * width] = np.int32(0)
            for gene in range(nodes):
                weight = weights[np.uint64(gene) * width + np.uint64(part * lanes) + lane]
                tables[at + (weight_rows + np.uint64(gene)) * width] = weight
        for place in range(_ONE, tree_nodes):
            label = np.uint64(order[base + np.uint64(place)])
            above = np.uint64(row[base + np.uint64(position[base + np.uint64(parent[base + label])])])
            node = np.uint64(row[base + np.uint64(place)])
            for part in range(rounds):
                at = column + np.uint64(part * lanes)
                weight = tables[at + (weight_rows + label) * width]
                tables[at + node * width] = np.int32(tables[at + above * width] + weight)
        blocks = ((tree_nodes - _ONE) >> block_bits) + _ONE
        for number in range(blocks):
            renew_block(tables, row, block_start, base, column, np.int64(number))
        renew_blocks_around(tables, row, block_start, base, column, blocks)

    @dpex.device_func
    def keep_shift(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        column,  # IN uint64
        target,  # IN uint64: row that keeps it
        plus,  # IN int64: rows whose difference it is
        minus,
    ):
        """target = plus - minus: the rows themselves may move."""
        for part in range(rounds):
            at = column + np.uint64(part * lanes)
            difference = np.int32(
                tables[at + np.uint64(plus) * width] - tables[at + np.uint64(minus) * width]
            )
            tables[at + target * width] = difference

    @dpex.device_func
    def shift_run(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        column,  # IN uint64
        shift,  # IN uint64: row that keeps the shift
        start,  # IN int64: positions
        stop,
    ):
        """Add a shift to the score rows of a run of positions."""
        for place in range(start, stop):
            node = np.uint64(row[base + np.uint64(place)])
            for part in range(rounds):
                at = column + np.uint64(part * lanes)
                tables[at + node * width] = np.int32(tables[at + node * width] + tables[at + shift * width])

    @dpex.device_func
    def rebuild(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        table,  # IN uint64: where the slot's tables start
        lane,  # IN uint64
        blocks,  # IN int64: how many there are
        start_1,  # IN int64: positions to shift by the first shift, two runs
        stop_1,
        start_2,
        stop_2,
        start_3,  # IN int64: positions to shift by the other one
        stop_3,
        plus_1,  # IN int64: the first shift is row plus_1 less row minus_1, as they were before the move
        minus_1,
        plus_2,  # IN int64: the other shift
        minus_2,
        change_1,  # IN int64: the blocks to renew, twice from … to before
        end_1,
        change_2,
        end_2,
    ):
        """Shift the moved rows, then renew the blocks with changed positions."""
        column = table + lane
        other_shift = shift_rows + np.uint64(1)
        keep_shift(tables, column, shift_rows, plus_1, minus_1)
        if start_3 < stop_3:
            keep_shift(tables, column, other_shift, plus_2, minus_2)
        shift_run(tables, row, base, column, shift_rows, start_1, stop_1)
        shift_run(tables, row, base, column, shift_rows, start_2, stop_2)
        shift_run(tables, row, base, column, other_shift, start_3, stop_3)
        first = end_1 - change_1
        for count in range(first + max(end_2 - change_2, np.int64(0))):
            # One loop for both runs of blocks: a second copy of the code would double its compilation.
            number = np.int64(count) + change_1
            if np.int64(count) >= first:
                number = np.int64(count) - first + change_2
            renew_block(tables, row, block_start, base, column, number)
        renew_blocks_around(tables, row, block_start, base, column, blocks)

    return fill_tables, rebuild
