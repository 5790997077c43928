"""The maximum over a range of positions, as that of a few rows of the slot's tables."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.layout import make_layout
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.uniform import choose, equal

_ONE = np.int64(1)


def make_range_maximum(nodes: int, cells: int, block: int, lanes: int) -> Callable[..., Any]:
    """Device function range_maximum."""
    layout = make_layout(nodes, block)
    prefix = np.int64(layout.prefix)
    suffix = np.int64(layout.suffix)
    top = np.int64(layout.top)
    rows = make_rows(cells, lanes)
    take_row, raise_by_row = rows.take_row, rows.raise_by_row

    @dpex.device_func
    def range_maximum(
        best,  # OUT (cells of a panel / lanes,) int32, private
        tables,  # IN (slots, rows, cells) int32, flat
        row,  # IN (slots, nodes) int32, flat
        block_of,  # IN (slots, nodes) int32, flat
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64
        start,  # IN int64: positions
        stop,  # IN int64, > start
    ):
        """best = the maximum over positions start … stop-1."""
        last = stop - _ONE
        low = np.int64(block_of[base + np.uint64(start)])
        high = np.int64(block_of[base + np.uint64(last)])
        one_block = equal(low, high)
        take_row(best, tables, column, np.int64(row[base + np.uint64(start)]) + (suffix & ~one_block))
        raise_by_row(best, tables, column, np.int64(row[base + np.uint64(last)]) + (prefix & ~one_block))
        # What lies between them: positions of the block, or the blocks between.
        for between in range(choose(one_block, start, low) + _ONE, choose(one_block, last, high)):
            other = np.int64(between)
            place = np.int64(row[base + np.uint64(other)])
            raise_by_row(best, tables, column, choose(one_block, place, top + other))

    return range_maximum
