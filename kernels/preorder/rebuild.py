"""Rebuild: after an accepted move, shift the moved rows and renew the maxima of the blocks that changed.

Every lane works on its own cells alone, so nothing has to wait for other lanes.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.layout import has_sketches, make_layout, panels_of
from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.renew import make_renew
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.sketches import make_sketches
from syclade.kernels.preorder.subtree_maxima import make_subtree_maxima
from syclade.kernels.preorder.uniform import choose, equal, greater, less, lesser

_ONE = np.int64(1)


def make_rebuild(nodes: int, cells: int, block: int, lanes: int) -> Callable[..., Any]:
    """Device function rebuild."""
    rows = make_rows(cells, lanes)
    take_shift, add_to_row = rows.take_shift, rows.add_to_row
    renew_block, may_have_lost, renew_around = make_renew(nodes, cells, block, lanes)
    add_to_sketched = make_sketches(cells, lanes).add_to_row
    _fill_subtrees, climb, reaches = make_subtree_maxima(nodes, cells, block, lanes)
    panels, rounds = panels_of(cells, lanes)
    sketches = int(has_sketches(cells))
    subtree = np.int64(make_layout(nodes, cells, block).subtree)

    @dpex.device_func
    def shift_run(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # IN OUT (slots, sketched, cells) int16, flat
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64
        column,  # IN uint64
        sketch_column,  # IN uint64
        shift,  # IN (cells of a panel / lanes,) int32, private
        start,  # IN int64: positions
        stop,
    ):
        """Add a shift to the score rows of a run of positions, and to the subtrees' maxima."""
        for place in range(start, stop):
            node = row_at(places, base + np.uint64(place))
            if sketches:
                add_to_sketched(shift, tables, sketch, column, sketch_column, node)
                add_to_sketched(shift, tables, sketch, column, sketch_column, subtree + node)
            else:
                add_to_row(shift, tables, column, node)

    @dpex.device_func
    def rebuild(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # IN OUT (slots, sketched, cells) int16, flat
        parent,  # IN (slots, nodes) int32, flat: the tree after the move
        order,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        table,  # IN uint64: where the slot's tables start
        sketch_table,  # IN uint64: where the slot's sketches start
        lane,  # IN uint64
        tree_nodes,  # IN int64
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
        block_1,  # IN int64: the blocks to renew, twice from … to before, with the positions that changed
        end_block_1,
        change_1,
        end_change_1,
        block_2,
        end_block_2,
        change_2,
        end_change_2,
        above_1,  # IN int64: from where the subtrees' maxima change upwards, as `climbs` has it
        loses_1,
        gains_1,
        above_2,
        loses_2,
        gains_2,
        shifted_from,
    ):
        """Shift the moved rows, then renew the blocks with changed positions."""
        shift = kapi.PrivateArray(rounds, np.int32)
        other_shift = kapi.PrivateArray(rounds, np.int32)
        first = end_block_1 - block_1
        second = greater(end_block_2 - block_2, np.int64(0))
        parted = equal(change_1, end_change_1)  # a run has left the first block, and joined the second
        everywhere = less(shifted_from, tree_nodes)
        place_1 = np.uint64(position[base + np.uint64(above_1)])
        place_2 = np.uint64(position[base + np.uint64(greater(above_2, np.int64(0)))])
        upper_1 = subtree + row_at(places, base + place_1)
        upper_2 = subtree + row_at(places, base + place_2)
        for panel in range(panels):
            column = table + np.uint64(panel * rounds * lanes) + lane
            sketch_column = sketch_table + np.uint64(panel * rounds * lanes) + lane
            if sketches:
                due_1 = everywhere | reaches(tables, column, subtree + loses_1, upper_1, np.int32(1))
                due_2 = reaches(tables, column, subtree + loses_2, upper_2, np.int32(1))
            # Kept, since the rows whose difference they are may move themselves.
            take_shift(shift, tables, column, plus_1, minus_1)
            take_shift(other_shift, tables, column, plus_2, minus_2)
            shift_run(tables, sketch, places, base, column, sketch_column, shift, start_1, stop_1)
            shift_run(tables, sketch, places, base, column, sketch_column, shift, start_2, stop_2)
            shift_run(tables, sketch, places, base, column, sketch_column, other_shift, start_3, stop_3)
            if sketches:
                due_1 = due_1 | reaches(tables, column, subtree + gains_1, upper_1, np.int32(0))
                due_2 = due_2 | reaches(tables, column, subtree + gains_2, upper_2, np.int32(0))
                due_2 = due_2 & less(-_ONE, above_2)
                for count in range(choose(due_1, np.int64(0), _ONE), choose(due_2, np.int64(2), _ONE)):
                    node = choose(less(np.int64(0), np.int64(count)), above_2, above_1)
                    climb(
                        tables, sketch, parent, order, position, size, places, base, column, sketch_column,
                        node, shifted_from,
                    )  # fmt: skip
            first_block, last_block = blocks, -_ONE
            for count in range(first + second):
                # One loop for both runs of blocks: a second copy of the code would double its compilation.
                one = less(np.int64(count), first)
                number = np.int64(count) + choose(one, block_1, block_2 - first)
                start = choose(one, change_1, change_2)
                stop = choose(one, end_change_1, end_change_2)
                changed = -_ONE
                if sketches:
                    if one & parted != np.int64(0):
                        changed = may_have_lost(
                            tables, places, block_start, base, column, number, start, subtree + loses_1, shift
                        )
                if changed != np.int64(0):
                    changed = renew_block(
                        tables, places, block_start, base, column, number, start, stop, parted & ~one
                    )
                first_block = choose(changed, lesser(first_block, number), first_block)
                last_block = choose(changed, greater(last_block, number), last_block)
            if first_block <= last_block:
                renew_around(tables, column, first_block, last_block, blocks)

    return rebuild
