"""Score mapping: a proposal's score from range maxima and shifts, in time proportional to the cells.

Every move shifts the scores of whole intervals of the preorder by one row (SCIENCE.md 4):

- one interval (prune and reattach): [a1, b1) by `shift 1`;
- two apart (swaps of unrelated nodes): [a1, b1) by `shift 1`, [a2, b2) by `shift 2`, b1 <= a2;
- one in the other (swaps of related nodes): [a1, b1) without [a2, b2) by `shift 1`, [a2, b2) by `shift 2`.

A shift is the difference of two rows of the slot's tables.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout
from syclade.kernels.preorder.range_maximum import make_range_maximum

ONE_INTERVAL = np.int64(0)
TWO_APART = np.int64(1)
ONE_IN_THE_OTHER = np.int64(2)

_ONE = np.int64(1)


def make_score_mapping(
    nodes: int, cells: int, block: int, lanes: int, weighted: int, wide: int
) -> Callable[..., Any]:
    """Device function: the lane's share of the proposal's score.

    Args:
        nodes, cells, block, lanes: as in `make_chain_steps`.
        weighted: 1 if columns have multiplicities.
        wide: 1 if a lane's share may not fit in 32 bits.
    """
    layout = make_layout(nodes, block)
    plan, range_maximum = make_range_maximum(nodes, cells, block)
    width = np.uint64(cells)
    rounds = cells // lanes
    before, prefix = np.int64(layout.before), np.int64(layout.prefix)
    after, suffix = np.int64(layout.after), np.int64(layout.suffix)

    @dpex.device_func
    def add(share, best, multiplicity, cell):
        """share + best * multiplicity, no wider than need be."""
        if weighted:
            return share + np.int64(best) * multiplicity[cell]
        if wide:
            return share + np.int64(best)
        return np.int32(share + best)

    @dpex.device_func
    def score_mapping(
        tables,  # IN (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_of,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        table,  # IN uint64: where the slot's tables start
        multiplicity,  # IN (cells,) int64
        shape,  # IN int64: ONE_INTERVAL, TWO_APART or ONE_IN_THE_OTHER
        a1,  # IN int64: first interval
        b1,
        a2,  # IN int64: second interval
        b2,
        plus_1,  # IN int64: shift 1 is row plus_1 less row minus_1
        minus_1,
        plus_2,  # IN int64: shift 2 likewise
        minus_2,
        lane,  # IN uint64
    ):
        """Sum over the lane's columns of multiplicity * best score (int64)."""
        share = np.int64(0) if wide or weighted else np.int32(0)
        left = base + np.uint64(a1 - _ONE)
        left_row = prefix + np.int64(row[left])
        p1 = np.uint64(before + np.int64(block_of[left])) * width
        p2 = np.uint64(left_row) * width
        d1 = np.uint64(plus_1) * width
        e1 = np.uint64(minus_1) * width
        if shape == ONE_INTERVAL:
            s1 = np.uint64(after + np.int64(block_of[base + np.uint64(b1)])) * width
            s2 = np.uint64(suffix + np.int64(row[base + np.uint64(b1)])) * width
            u1, u2, uk, ul, ur, us = plan(row, block_of, base, a1, b1)
            for part in range(rounds):
                cell = np.uint64(part * lanes) + lane
                column = table + cell
                moved = range_maximum(tables, row, block_start, base, column, u1, u2, uk, ul, ur, us)
                moved = np.int32(moved + np.int32(tables[column + d1] - tables[column + e1]))
                best = max(
                    max(tables[column + p1], tables[column + p2]),
                    max(tables[column + s1], tables[column + s2]),
                )
                share = add(share, max(best, moved), multiplicity, cell)
            return np.int64(share)
        d2 = np.uint64(plus_2) * width
        e2 = np.uint64(minus_2) * width
        v1, v2, vk, vl, vr, vs = plan(row, block_of, base, a2, b2)
        if shape == TWO_APART:
            s1 = np.uint64(after + np.int64(block_of[base + np.uint64(b2)])) * width
            s2 = np.uint64(suffix + np.int64(row[base + np.uint64(b2)])) * width
            u1, u2, uk, ul, ur, us = plan(row, block_of, base, a1, b1)
            # Nothing between them: take any row that counts anyway.
            m1 = left_row
            m2 = m1
            mk = np.int64(0)
            ml = mk
            mr = mk
            ms = mk
            if b1 < a2:
                m1, m2, mk, ml, mr, ms = plan(row, block_of, base, b1, a2)
            for part in range(rounds):
                cell = np.uint64(part * lanes) + lane
                column = table + cell
                moved = range_maximum(tables, row, block_start, base, column, u1, u2, uk, ul, ur, us)
                moved = np.int32(moved + np.int32(tables[column + d1] - tables[column + e1]))
                other = range_maximum(tables, row, block_start, base, column, v1, v2, vk, vl, vr, vs)
                other = np.int32(other + np.int32(tables[column + d2] - tables[column + e2]))
                between = range_maximum(tables, row, block_start, base, column, m1, m2, mk, ml, mr, ms)
                best = max(
                    max(tables[column + p1], tables[column + p2]),
                    max(tables[column + s1], tables[column + s2]),
                )
                share = add(share, max(max(best, between), max(moved, other)), multiplicity, cell)
            return np.int64(share)
        s1 = np.uint64(after + np.int64(block_of[base + np.uint64(b1)])) * width
        s2 = np.uint64(suffix + np.int64(row[base + np.uint64(b1)])) * width
        u1, u2, uk, ul, ur, us = plan(row, block_of, base, a1, a2)
        # Nothing behind the inner interval: take the outer one's first part twice.
        m1 = u1
        m2 = u1
        mk = np.int64(0)
        ml = mk
        mr = mk
        ms = mk
        if b2 < b1:
            m1, m2, mk, ml, mr, ms = plan(row, block_of, base, b2, b1)
        for part in range(rounds):
            cell = np.uint64(part * lanes) + lane
            column = table + cell
            moved = range_maximum(tables, row, block_start, base, column, u1, u2, uk, ul, ur, us)
            behind = range_maximum(tables, row, block_start, base, column, m1, m2, mk, ml, mr, ms)
            shift = np.int32(tables[column + d1] - tables[column + e1])
            moved = np.int32(max(moved, behind) + shift)
            inner = range_maximum(tables, row, block_start, base, column, v1, v2, vk, vl, vr, vs)
            inner = np.int32(inner + np.int32(tables[column + d2] - tables[column + e2]))
            best = max(
                max(tables[column + p1], tables[column + p2]), max(tables[column + s1], tables[column + s2])
            )
            share = add(share, max(best, max(moved, inner)), multiplicity, cell)
        return np.int64(share)

    return score_mapping
