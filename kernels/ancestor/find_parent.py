"""Find parent, the first stage: in rows of ancestors the parent needs no search.

Row y of the matrix holds a bit for every ancestor of y, y included (the thesis keeps columns, and searches:
algorithm 3.2). The ancestors of y's parent are those of y without y itself, so the parent's whole row is
row y with one bit cleared. No later stage needs the parent's number.

The tree update asks for words of these rows by a device function (given, rows, which, row_word, node, index):
in the fused kernel it makes them anew, in the kernel of its own it reads what the stage before has written.
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
    """Word `index` of the row of the node's parent."""
    own_bit = np.uint64((node >> WORD_SHIFT) == index) << (node & WORD_MASK)
    return row_word & ~own_bit


@device_function
def from_own_row(given, rows, which, row_word, node, index):
    """The word, made of the node's own."""
    return parent_row_word(row_word, node, index)


def make_from_memory(capacity_of: Any) -> Any:
    """Device function: the word, read from `parent_rows`, where the slot's begin at `rows`."""

    @device_function
    def from_memory(given, rows, which, row_word, node, index):
        """Row 0 is that of v's parent, row 1 that of w's."""
        return given.parent_rows[rows + which * address(capacity_of().words) + index]

    return from_memory
