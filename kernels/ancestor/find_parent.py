"""Find parent, the first stage: with rows of ancestors, no search for the parent is needed.

Row y of the matrix has a bit for every ancestor of y, y included. (The thesis stores columns, and searches:
algorithm 3.2.) The ancestors of y's parent are those of y without y itself, so the parent's whole row is
row y with one bit cleared. No later stage needs the parent's number.

The tree update gets words of these rows from a device function (given, rows, which, row_word, node, index).
In the fused kernel that function computes them; in a separate kernel it reads those that the stage before has
written.
"""

from typing import Any

import numpy as np

from syclade.kernels.target import address, device_function
from syclade.kernels.words import WORD_MASK, WORD_SHIFT


@device_function
def parent_row_word(
    row_word,  # IN uint64: word `index` of the node's own row
    node,  # IN uint64
    index,  # IN uint64: which word of the row
):
    """Return word `index` of the row of the node's parent (uint64)."""
    own_bit = np.uint64((node >> WORD_SHIFT) == index) << (node & WORD_MASK)
    return row_word & ~own_bit


@device_function
def from_own_row(
    given,  # IN the kernel's arguments: not used
    rows,  # IN address: not used
    which,  # IN address: not used
    row_word,  # IN uint64: word `index` of the node's own row
    node,  # IN uint64
    index,  # IN uint64: which word of the row
):
    """Return the word, computed from the node's own row (uint64)."""
    return parent_row_word(row_word, node, index)


def make_from_memory(capacity_of: Any) -> Any:
    """Return a device function that reads the word from `parent_rows`, for matrices of a capacity."""

    @device_function
    def from_memory(
        given,  # IN parent_rows (slots, 2, words) uint64, flat
        rows,  # IN address: where the slot's rows of parents start
        which,  # IN address: 0 for the row of v's parent, 1 for that of w's
        row_word,  # IN uint64: not used
        node,  # IN uint64: not used
        index,  # IN uint64: which word of the row
    ):
        """Return the word (uint64)."""
        return given.parent_rows[rows + which * address(capacity_of().words) + index]

    return from_memory
