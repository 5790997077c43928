"""Places: the data of each position of the preorder in one int64, so that a move takes all of it along.

The lower half is the score row of the node at the position (where the row starts, as in layout.py). The upper
half is the number of its block.
"""

import numpy as np

from syclade.kernels.target import control, device_function

_BLOCK_BITS = np.int64(32)
_ROW_MASK = np.int64(0xFFFFFFFF)


@device_function
def row_at(
    places,  # IN (slots, nodes) int64, flat
    at,  # IN address: index of the position
):
    """Return the score row of the position (control)."""
    return control(places[at] & _ROW_MASK)


@device_function
def block_at(
    places,  # IN (slots, nodes) int64, flat
    at,  # IN address: index of the position
):
    """Return the block of the position (control)."""
    return control(places[at] >> _BLOCK_BITS)


@device_function
def place_of(
    row,  # IN control
    block,  # IN control
):
    """Return row and block in one number (int64)."""
    return np.int64(row) | (np.int64(block) << _BLOCK_BITS)
