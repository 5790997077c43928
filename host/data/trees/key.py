"""Key of a tree: 64 bits that depend on its parents only (see kernels/recorders/key.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.recorders.key import tree_keys

__all__ = ["tree_key"]


def tree_key(parents: NDArray[np.int32]) -> int:
    """Return the key of a tree: the sum over all mutations of a hash of (mutation, parent), 0 … 2^64-1.

    Args:
        parents: int32, shape (n + 1,); the root n is its own parent.
    """
    return int(tree_keys(np.asarray(parents)[None])[0])
