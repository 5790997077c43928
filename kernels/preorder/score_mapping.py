"""Score mapping: a proposal's score from range maxima and shifts, in time proportional to the cells.

score_change.py is for tables with sketches.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.intervals import third_interval
from syclade.kernels.preorder.layout import make_layout, panels_of
from syclade.kernels.preorder.places import block_at, row_at
from syclade.kernels.preorder.range_maximum import make_range_maximum
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.shapes import ONE_INTERVAL

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
    layout = make_layout(nodes, cells, block)
    rows = make_rows(cells, lanes)
    take_row, raise_by_row, raise_by_shifted = rows.take_row, rows.raise_by_row, rows.raise_by_shifted
    _range_rows, take_range, _range_of_cell = make_range_maximum(nodes, cells, block, lanes)
    panels, rounds = panels_of(cells, lanes)
    width = np.int64(cells)
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
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64: where the slot's tree starts
        table,  # IN uint64: where the slot's tables start
        multiplicity,  # IN (cells,) int64
        shape,  # IN int64: as in shapes.py, like all intervals and shifts
        a1,
        b1,
        a2,
        b2,
        end_first,
        end,
        plus_1,
        minus_1,
        plus_2,
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
            take_row(best, tables, column, before + block_at(places, left) * width)
            raise_by_row(best, tables, column, prefix + row_at(places, left))
            raise_by_row(best, tables, column, after + block_at(places, right) * width)
            raise_by_row(best, tables, column, suffix + row_at(places, right))
            take_range(moved, tables, places, base, column, a1, end_first)
            raise_by_shifted(best, moved, tables, column, plus_1, minus_1)
            if shape != ONE_INTERVAL:
                take_range(moved, tables, places, base, column, a2, b2)
                raise_by_shifted(best, moved, tables, column, plus_2, minus_2)
                third, end_third, plus_3 = third_interval(shape, a1, b1, a2, b2, end_first, plus_1, minus_1)
                take_range(moved, tables, places, base, column, third, end_third)
                raise_by_shifted(best, moved, tables, column, plus_3, minus_1)
            for part in range(rounds):
                share = add(share, best[part], multiplicity, first_cell + np.uint64(part * lanes))
        return np.int64(share)

    return score_mapping
