"""Accept: the tree takes the move, and the tables follow."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.blocks import make_blocks
from syclade.kernels.preorder.changes import growth, permutation, shifted_runs
from syclade.kernels.preorder.climbs import climbs
from syclade.kernels.preorder.layout import has_sketches
from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.rebuild import make_rebuild
from syclade.kernels.preorder.renumber import make_renumber
from syclade.kernels.preorder.touched import (
    touched_by_everything,
    touched_by_local_move,
    touched_by_shifts,
)
from syclade.kernels.preorder.tree_update import make_tree_update, reattach
from syclade.kernels.preorder.uniform import apart_from
from syclade.kernels.proposal import (
    PRUNE_AND_REATTACH,
    SWAP_LABELS,
    SWAP_RELATED_SUBTREES,
    SWAP_UNRELATED_SUBTREES,
)
from syclade.kernels.sub_group import in_step

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_LABELS = np.int64(SWAP_LABELS)
_UNRELATED = np.int64(SWAP_UNRELATED_SUBTREES)
_RELATED = np.int64(SWAP_RELATED_SUBTREES)
_ONE = np.int64(1)
_ZERO = np.int64(0)


def make_accept(nodes: int, labels: int, cells: int, block: int, lanes: int) -> Callable[..., Any]:
    """Device function accept."""
    sketches = int(has_sketches(cells))
    permute, take_permuted, swap_labels = make_tree_update(nodes, labels, lanes, sketches)
    renumber = make_renumber(labels, lanes)
    joins, exchange, move_to_block, cut_anew = make_blocks(nodes, block, lanes)
    rebuild = make_rebuild(nodes, cells, block, lanes)
    block_bits = np.int64(block.bit_length() - 1)

    @dpex.device_func
    def accept(
        parent,  # IN OUT (slots, nodes) int32, flat
        order,  # IN OUT (slots, nodes) int32, flat: only in tables with sketches
        position,  # IN OUT (slots, nodes) int32, flat
        size,  # IN OUT (slots, nodes) int32, flat
        places,  # IN OUT (slots, nodes) int64, flat
        row_of,  # IN OUT (slots, nodes) int32, flat
        block_start,  # IN OUT (slots, nodes) int32, flat
        fresh,  # SCRATCH (slots, 2, nodes) int64, flat
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # IN OUT (slots, sketched, cells) int16, flat
        base,  # IN uint64: where the slot's tree starts
        fresh_base,  # IN uint64
        table,  # IN uint64: where the slot's tables start
        sketch_table,  # IN uint64: where the slot's sketches start
        tree_nodes,  # IN int64
        lane,  # IN uint64
        kind,  # IN int64: the move
        v,
        t,
        x,  # IN int64: its intervals, as in intervals.py
        y,
        a1,
        b1,
        a2,
        b2,
        plus_1,  # IN int64: rows of its shifts
        minus_1,
        plus_2,
        minus_2,
    ):
        """Change the tree and the tables; all lanes of the group come here together."""
        v, t, x, y = apart_from(v), apart_from(t), apart_from(x), apart_from(y)
        a1, b1, a2, b2 = apart_from(a1), apart_from(b1), apart_from(a2), apart_from(b2)
        plus_1, minus_1 = apart_from(plus_1), apart_from(minus_1)
        plus_2, minus_2 = apart_from(plus_2), apart_from(minus_2)
        row_x = row_at(places, base + np.uint64(a1))
        row_y = row_at(places, base + np.uint64(a2))
        above_x = np.int64(parent[base + np.uint64(x)])
        above_y = np.int64(parent[base + np.uint64(y)])
        start_1, start_2, start_3, start_4, stop, offset_1, offset_2, offset_3, offset_4 = permutation(
            parent, position, size, base, kind, v, t, a1, b1, a2, b2
        )
        run_1, end_run_1, run_2, end_run_2, run_3, end_run_3 = shifted_runs(
            kind, a1, b1, a2, b2, start_1, start_2, start_3, start_4, stop, offset_1
        )
        blocks = ((tree_nodes - _ONE) >> block_bits) + _ONE
        block_1, end_block_1, change_1, end_change_1, block_2, end_block_2, change_2, end_change_2 = (
            touched_by_everything(blocks, tree_nodes)
        )
        if kind == _LABELS:
            block_1, end_block_1, change_1, end_change_1, block_2, end_block_2, change_2, end_change_2 = (
                touched_by_shifts(
                    places, base, run_1, end_run_1, max(run_2, run_3), max(end_run_2, end_run_3)
                )
            )
            base = in_step(base)
            swap_labels(
                parent, order, position, size, places, row_of, base, lane,
                x, y, above_x, above_y, a1, b1, a2, b2,
            )  # fmt: skip
        else:
            growth_1, place_1, floor_1, growth_2, place_2, floor_2 = growth(
                parent, position, base, kind, x, y, t, a1, b1, a2, b2
            )
            local, old, new = _ZERO, _ZERO, _ZERO
            if kind == _PRUNE:
                neighbour = start_1 - _ONE
                if run_1 != start_1:
                    neighbour = stop - _ONE
                local, old, new = joins(places, block_start, base, a1, b1, neighbour)
            elif kind == _UNRELATED:
                local, old, new = exchange(places, block_start, base, a1, b1, a2, b2)
            permute(
                order, places, fresh, base, fresh_base, lane,
                start_1, start_2, start_3, start_4, stop, offset_1, offset_2, offset_3, offset_4,
            )  # fmt: skip
            renumber(
                position, size, base, lane,
                start_1, start_2, start_3, start_4, stop, offset_1, offset_2, offset_3, offset_4,
                growth_1, place_1, floor_1, growth_2, place_2, floor_2,
            )  # fmt: skip
            base = in_step(base)
            take_permuted(order, places, fresh, base, fresh_base, lane, start_1, stop)
            reattach(parent, base, kind, x, y, t, above_x, above_y)
            if local != _ZERO:
                block_1, end_block_1, change_1, end_change_1, block_2, end_block_2, change_2, end_change_2 = (
                    touched_by_local_move(kind, old, new, start_1, stop, run_1, end_run_1, run_3, end_run_3)
                )
                base = in_step(base)
                if kind == _UNRELATED:
                    move_to_block(places, block_start, base, lane, run_3, end_run_3, new, old)
                    base = in_step(base)
                move_to_block(places, block_start, base, lane, run_1, end_run_1, old, new)
            else:
                base = in_step(base)
                cut_anew(places, block_start, base, lane, tree_nodes)
        base = in_step(base)
        first_plus, first_minus, other_plus, other_minus = plus_1, minus_1, plus_2, minus_2
        if kind == _RELATED:
            first_plus, first_minus, other_plus, other_minus = plus_2, minus_2, plus_1, minus_1
        above_1, loses_1, gains_1, above_2, loses_2, gains_2, shifted_from = climbs(
            kind, x, y, t, a1, b1, a2, above_x, above_y, row_x, row_y, tree_nodes
        )
        rebuild(
            tables, sketch, parent, order, position, size, places, block_start,
            base, table, sketch_table, lane, tree_nodes, blocks,
            run_1, end_run_1, run_2, end_run_2, run_3, end_run_3,
            first_plus, first_minus, other_plus, other_minus,
            block_1, end_block_1, change_1, end_change_1, block_2, end_block_2, change_2, end_change_2,
            above_1, loses_1, gains_1, above_2, loses_2, gains_2, shifted_from,
        )  # fmt: skip

    return accept
