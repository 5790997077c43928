"""The stages composed: one kernel that does many chain steps, one work-group a slot, which is one sub-group.

All control is done by every lane alike, and all branches are the same for all lanes: a branch that differs
between lanes would stop the CPU device's compiler from vectorising. A lane owns the cells lane, lane + lanes,
…, and no other lane touches their columns of the tables.
"""

from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.accept import make_accept
from syclade.kernels.preorder.batch import make_draw_batch
from syclade.kernels.preorder.intervals import make_intervals
from syclade.kernels.preorder.layout import has_sketches, make_layout
from syclade.kernels.preorder.propose import make_propose
from syclade.kernels.preorder.reduction import make_reduction
from syclade.kernels.preorder.renumber import make_fill_order
from syclade.kernels.preorder.score_change import make_score_change
from syclade.kernels.preorder.score_mapping import make_score_mapping
from syclade.kernels.preorder.sketches import slack_of_equals
from syclade.kernels.preorder.start import make_start
from syclade.kernels.sub_group import in_step

_WORD_MASK = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_KINDS = np.int64(5)  # kinds of move
_LAST_TALLY = np.uint64(9)  # proposed, accepted
_ONE = np.int64(1)
_TALLY_BITS = np.int64(6)  # a tally of one batch
_TALLY_MASK = np.int64(63)


def make_chain_steps(
    nodes: int,
    labels: int,
    cells: int,
    block: int,
    lanes: int,
    weighted: int,
    wide: int,
    rows: int,
    sketched: int,
) -> Any:
    """Kernel for up to `labels` tree nodes and `cells` distinct columns (multiples of `lanes`, padded).

    Args:
        nodes: positions, a multiple of `lanes`, more than the tree's nodes.
        labels: tree nodes, a multiple of `lanes`.
        cells: columns, a multiple of `lanes`.
        block: positions a block, about; a power of two.
        lanes: work-items a slot.
        weighted: 1 if columns have multiplicities.
        wide: 1 if a lane's share of a score may not fit in 32 bits.
        rows, sketched: of a slot's tables, as `make_layout` has it.

    Launch: global range (slots * lanes), local range (lanes).
    """
    assert int(_LAST_TALLY) < lanes < int(_TALLY_MASK), "a lane for every tally, and room for a batch's"
    layout = make_layout(nodes, cells, block)
    assert (layout.rows, layout.sketched) == (rows, sketched)
    sketches = int(has_sketches(cells))
    tree_size = np.uint64(nodes)
    table_size = np.uint64(rows * cells)
    sketch_size = np.uint64(sketched * cells)
    lanes_u = np.uint64(lanes)
    batch_mask = np.int64(lanes - 1)
    draw_batch = make_draw_batch(lanes)
    propose = make_propose(labels, lanes)
    moved_intervals = make_intervals(nodes, cells, block)
    score_change = make_score_change(nodes, cells, block, lanes, weighted)
    score_mapping = make_score_mapping(nodes, cells, block, lanes, weighted, wide)
    total, copy_tree = make_reduction(labels, lanes)
    start_tables = make_start(nodes, cells, block, lanes)
    fill_order = make_fill_order(labels, lanes)
    accept = make_accept(nodes, labels, cells, block, lanes)

    @dpex.kernel
    def preorder_chain_steps(
        nd_item: kapi.NdItem,
        weights,  # IN (nodes, cells) int32
        multiplicity,  # IN (cells,) int64
        log_table,  # IN (257,) int64
        log_sizes,  # IN (log_sizes,) int64: ln(k) / gamma in units of 2^-f
        parameters,  # IN (8,) int64: mutations, gain of a one, loss of a zero, prune below, swap below, seed
        chain,  # IN (slots,) int64: the chain's number
        step,  # IN OUT (slots,) int64: the next step
        last_step,  # IN (slots,) int64: where to stop
        score,  # IN OUT (slots,) int64
        best_score,  # IN OUT (slots,) int64
        parent,  # IN OUT (slots, nodes) int32
        order,  # IN OUT (slots, nodes) int32
        position,  # IN OUT (slots, nodes) int32
        size,  # IN OUT (slots, nodes) int32
        tables_made,  # IN OUT (slots,) int64: 1 while the tables are those of the tree
        best_parent,  # IN OUT (slots, nodes) int32
        places,  # SCRATCH (slots, nodes) int64
        row_of,  # SCRATCH (slots, nodes) int32
        block_start,  # SCRATCH (slots, nodes) int32
        fresh,  # SCRATCH (slots, 2, nodes) int64
        tables,  # SCRATCH (slots, rows, cells) int32
        sketch,  # SCRATCH (slots, sketched, cells) int16
        flagged,  # SCRATCH (slots, cells) uint32
        drawn,  # SCRATCH (slots, 5, lanes) int64
        tallies,  # IN OUT (slots, 10) int64: proposed by kind, accepted by kind
    ):
        slot = np.uint64(nd_item.get_group().get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        base = slot * tree_size
        fresh_base = slot * tree_size * np.uint64(2)
        table = slot * table_size
        sketch_table = slot * sketch_size
        flags_base = slot * np.uint64(cells)
        batch = slot * lanes_u * np.uint64(5)
        mutations = parameters[np.uint64(0)]
        prune_below = np.uint64(parameters[np.uint64(3)])
        swap_below = np.uint64(parameters[np.uint64(4)])
        key_0 = np.uint64(parameters[np.uint64(5)]) & _WORD_MASK
        key_1 = np.uint64(parameters[np.uint64(5)]) >> _WORD
        stream = np.uint64(chain[slot])
        current = score[slot]
        best = best_score[slot]
        first_step = step[slot]
        spare = slack_of_equals(parameters[np.uint64(1)])
        steps = max(last_step[slot] - first_step, np.int64(0))
        # Every lane keeps one tally: to add to a shared one would count as often as lanes do so in turn.
        tally_at = slot * (_LAST_TALLY + np.uint64(1)) + min(lane, _LAST_TALLY)
        own_shift = np.int64(min(lane, _LAST_TALLY)) * _TALLY_BITS
        count = tallies[tally_at]
        tally = np.int64(0)  # of the batch: bits for each kind proposed, then for each kind accepted
        if (tables_made[slot] == np.int64(0)) and (steps > np.int64(0)):
            start_tables(
                tables, sketch, weights, parent, order, position, size, places, row_of, block_start,
                base, table, sketch_table, mutations + _ONE, lane,
            )  # fmt: skip
            base = in_step(base)

        for done in range(steps):
            now = np.int64(done) & batch_mask
            if now == np.int64(0):
                count = count + ((tally >> own_shift) & _TALLY_MASK)
                tally = np.int64(0)
                batch = in_step(batch)
                draw_batch(
                    drawn, batch, lane, np.uint64(first_step + np.int64(done)), stream, key_0, key_1,
                    np.uint64(mutations), prune_below, swap_below, log_table,
                )  # fmt: skip
                batch = in_step(batch)
            at = batch + np.uint64(now)
            kind, v, w, t, correction = propose(
                position, size, log_sizes, base, drawn[at], drawn[at + lanes_u],
                drawn[at + np.uint64(2) * lanes_u], drawn[at + np.uint64(3) * lanes_u], mutations, lane,
            )  # fmt: skip
            shape, x, a1, b1, y, a2, b2, end_first, end, plus_1, minus_1, plus_2, minus_2 = moved_intervals(
                parent, position, size, row_of, base, kind, v, w, t
            )
            threshold = drawn[at + np.uint64(4) * lanes_u] + correction - current
            tally = tally + (_ONE << (kind * _TALLY_BITS))
            moves = (plus_1 ^ minus_1) | (plus_2 ^ minus_2)
            proposed = current
            if moves != np.int64(0):
                if sketches:
                    change = score_change(
                        tables, sketch, places, flagged, base, table, sketch_table, flags_base,
                        multiplicity, kind, spare, shape, a1, b1, a2, b2, end_first, end,
                        plus_1, minus_1, plus_2, minus_2, lane,
                    )  # fmt: skip
                    proposed = current + total(change)
                else:
                    share = score_mapping(
                        tables, places, base, table, multiplicity, shape, a1, b1, a2, b2,
                        end_first, end, plus_1, minus_1, plus_2, minus_2, lane,
                    )  # fmt: skip
                    proposed = total(share)
            if proposed + threshold >= np.int64(0):
                current = proposed
                tally = tally + (_ONE << ((kind + _KINDS) * _TALLY_BITS))
                if moves != np.int64(0):
                    accept(
                        parent, order, position, size, places, row_of, block_start, fresh, tables,
                        sketch, base, fresh_base, table, sketch_table, mutations + _ONE, lane,
                        kind, v, t, x, y, a1, b1, a2, b2, plus_1, minus_1, plus_2, minus_2,
                    )  # fmt: skip
                    base = in_step(base)
                if proposed > best:
                    best = proposed
                    copy_tree(parent, best_parent, base, lane)

        if steps > np.int64(0):
            if not sketches:
                fill_order(order, position, base, lane)
            tables_made[slot] = _ONE
        score[slot] = current
        best_score[slot] = best
        step[slot] = first_step + steps
        tallies[tally_at] = count + ((tally >> own_shift) & _TALLY_MASK)

    return preorder_chain_steps
