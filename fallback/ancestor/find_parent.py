"""Find parent: the rows of the parents of v and w.

Lemma (thesis 3.1.1): v is the parent of w iff A[v][w], and A[x][v] = A[x][w] for all x other than w. So the
row of ancestors of the parent of w is the row of w without the bit of w, and no search is needed.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import Arrays, ChainParts, V, W
from syclade.fallback.ancestor.rows import bit_of, row_of


def parent_row(
    row: NDArray[np.uint64],  # IN (slots, words): of the node itself
    node: NDArray[np.int64],  # IN (slots,)
) -> NDArray[np.uint64]:
    """Return the rows of the nodes' parents, (slots, words)."""
    above = row.copy()
    above[np.arange(len(node)), node // 64] &= ~bit_of(node)
    return above


def find_parent(
    arrays: Arrays,  # IN ancestors, move; OUT parent_rows
    slots: NDArray[np.int64],
    _parts: ChainParts,
) -> None:
    """Write the rows of the parents of v and of w, in this order."""
    matrix, move = arrays["ancestors"][slots], arrays["move"][slots]
    for index, column in enumerate((V, W)):
        node = move[:, column]
        arrays["parent_rows"][slots, index] = parent_row(row_of(matrix, node), node)
