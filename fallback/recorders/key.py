"""Keys of trees (the mirror of `kernels/recorders/key.py`)."""

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def tree_keys(
    parent: NDArray[np.int32],  # IN (trees, nodes), the root last
) -> NDArray[np.uint64]:
    """Return the sum over all mutations of a hash of (mutation, parent), (trees,)."""
    above = parent[:, :-1].astype(np.uint64)
    word = ((np.arange(above.shape[1], dtype=np.uint64) << np.uint64(32)) | above) + _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    keys: NDArray[np.uint64] = (word ^ (word >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
    return keys
