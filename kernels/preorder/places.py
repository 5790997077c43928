"""Places: what stands at each position of the preorder, in one int64, so that a move takes all of it along.

The lower half is the score row of the node that stands there (where it starts, as in layout.py), the upper
half is the number of its block.
"""

import numba_dpex as dpex
import numpy as np

_BLOCK_BITS = np.int64(32)
_ROW_MASK = np.int64(0xFFFFFFFF)


@dpex.device_func
def row_at(
    places,  # IN (slots, nodes) int64, flat
    at,  # IN uint64: where the position stands in it
):
    """Score row of the position (int64)."""
    return places[at] & _ROW_MASK


@dpex.device_func
def block_at(
    places,  # IN (slots, nodes) int64, flat
    at,  # IN uint64
):
    """Block of the position (int64)."""
    return places[at] >> _BLOCK_BITS


@dpex.device_func
def place_of(
    row,  # IN int64
    block,  # IN int64
):
    """Both in one (int64)."""
    return row | (block << _BLOCK_BITS)
