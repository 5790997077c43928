"""Find parent, the first stage: in rows of ancestors the parent needs no search.

Row y of the matrix holds a bit for every ancestor of y, y included (the thesis keeps columns, and searches:
algorithm 3.2). The ancestors of y's parent are those of y without y itself, so the parent's whole row is
row y with one bit cleared. No later stage needs the parent's number.
"""

import numpy as np

from syclade.kernels.target import device_function
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
