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
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.layout import make_layout, panels_of
from syclade.kernels.preorder.range_maximum import make_range_maximum
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.uniform import choose, equal, less

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
    rows = make_rows(cells, lanes)
    take_row, raise_by_row, raise_by_shifted = rows.take_row, rows.raise_by_row, rows.raise_by_shifted
    range_maximum = make_range_maximum(nodes, cells, block, lanes)
    panels, rounds = panels_of(cells, lanes)
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
        base,  # IN uint64: where the slot's tree starts
        table,  # IN uint64: where the slot's tables start
        multiplicity,  # IN (cells,) int64
        shape,  # IN int64: ONE_INTERVAL, TWO_APART or ONE_IN_THE_OTHER
        a1,  # IN int64: first interval
        b1,
        a2,  # IN int64: second interval
        b2,
        end_first,  # IN int64: end of what is shifted first
        end,  # IN int64: end of all that is shifted
        plus_1,  # IN int64: shift 1 is row plus_1 less row minus_1
        minus_1,
        plus_2,  # IN int64: shift 2 likewise
        minus_2,
        lane,  # IN uint64
    ):
        """Sum over the lane's columns of multiplicity * best score (int64)."""
        best = kapi.PrivateArray(rounds, np.int32)
        moved = kapi.PrivateArray(rounds, np.int32)
        share = np.int64(0) if wide or weighted else np.int32(0)
        left = base + np.uint64(a1 - _ONE)
        right = base + np.uint64(end)
        for panel in range(panels):
            first_cell = np.uint64(panel * rounds * lanes) + lane
            column = table + first_cell
            take_row(best, tables, column, before + np.int64(block_of[left]))
            raise_by_row(best, tables, column, prefix + np.int64(row[left]))
            raise_by_row(best, tables, column, after + np.int64(block_of[right]))
            raise_by_row(best, tables, column, suffix + np.int64(row[right]))
            range_maximum(moved, tables, row, block_of, base, column, a1, end_first)
            raise_by_shifted(best, moved, tables, column, plus_1, minus_1)
            if shape != ONE_INTERVAL:
                range_maximum(moved, tables, row, block_of, base, column, a2, b2)
                raise_by_shifted(best, moved, tables, column, plus_2, minus_2)
                # Two apart have something between them, which is not shifted; one in the other has something
                # behind the inner one, shifted as the first part is. If it is empty, the first part again.
                apart = equal(shape, TWO_APART)
                third = choose(apart, b1, b2)
                end_third = choose(apart, a2, b1)
                some = less(third, end_third)
                third = choose(some, third, a1)
                end_third = choose(some, end_third, end_first)
                range_maximum(moved, tables, row, block_of, base, column, third, end_third)
                plus_3 = choose(apart & some, minus_1, plus_1)
                raise_by_shifted(best, moved, tables, column, plus_3, minus_1)
            for part in range(rounds):
                share = add(share, best[part], multiplicity, first_cell + np.uint64(part * lanes))
        return np.int64(share)

    return score_mapping
