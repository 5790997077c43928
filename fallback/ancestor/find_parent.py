"""Find parent: the parent's row is the node's own less one bit (see `kernels/ancestor/find_parent.py`)."""

import numpy as np
from numpy.typing import NDArray


def parent_row(
    rows: NDArray[np.uint64],  # IN (slots, words): each slot's row of its node
    node: NDArray[np.int64],  # IN (slots,)
) -> NDArray[np.uint64]:
    """Rows of the parents, (slots, words)."""
    above = rows.copy()
    slot = np.arange(len(node))
    above[slot, node >> 6] &= ~(np.uint64(1) << (node & 63).astype(np.uint64))
    return above
