"""The maximum over a range of positions, as that of a few rows of the slot's tables."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout

_ONE = np.int64(1)
_ZERO = np.int64(0)


def make_range_maximum(nodes: int, cells: int, block: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (plan, range_maximum)."""
    layout = make_layout(nodes, block)
    prefix = np.int64(layout.prefix)
    suffix = np.int64(layout.suffix)
    width = np.uint64(cells)

    @dpex.device_func
    def plan(
        row,  # IN (slots, nodes) int32, flat
        block_of,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        start,  # IN int64
        stop,  # IN int64, > start
    ):
        """Rows whose maximum is that of positions start … stop-1.

        Returns (first row, second row, first block, end of blocks, first position, end of positions), int64:
        two rows, the last prefix rows of some blocks, and the score rows of some positions.
        """
        last = stop - _ONE
        first_row = np.int64(row[base + np.uint64(start)])
        second_row = np.int64(row[base + np.uint64(last)])
        low = np.int64(block_of[base + np.uint64(start)])
        high = np.int64(block_of[base + np.uint64(last)])
        if low == high:
            return first_row, second_row, _ZERO, _ZERO, start + _ONE, last
        return suffix + first_row, prefix + second_row, low + _ONE, high, _ZERO, _ZERO

    @dpex.device_func
    def range_maximum(
        tables,  # IN (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_start,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: where the cell stands in the first row of the slot's tables
        first_row,  # IN int64, and so on: the plan
        second_row,
        first_block,
        end_block,
        first_position,
        end_position,
    ):
        """The maximum for one cell (int32)."""
        best = max(
            tables[column + np.uint64(first_row) * width],
            tables[column + np.uint64(second_row) * width],
        )
        for number in range(first_block, end_block):
            end = np.uint64(block_start[base + np.uint64(number) + np.uint64(1)]) - np.uint64(1)
            at = np.uint64(prefix) + np.uint64(row[base + end])
            best = max(best, tables[column + at * width])
        for place in range(first_position, end_position):
            at = np.uint64(row[base + np.uint64(place)])
            best = max(best, tables[column + at * width])
        return best

    return plan, range_maximum
