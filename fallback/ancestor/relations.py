"""Questions to the ancestor matrix that a proposal asks (the mirror of `kernels/ancestor/relations.py`)."""

import numpy as np
from numpy.typing import NDArray


def bits_of(
    ancestors: NDArray[np.uint64],  # IN (slots, words, nodes)
    ancestor: NDArray[np.int64],  # IN (slots,)
) -> NDArray[np.bool_]:
    """(slots, nodes): is each node a descendant of its slot's `ancestor`?"""
    slot = np.arange(len(ancestor))
    words = ancestors[slot, ancestor >> 6]
    return ((words >> (ancestor & 63).astype(np.uint64)[:, None]) & np.uint64(1)).astype(np.bool_)


def is_descendant(
    ancestors: NDArray[np.uint64],  # IN (slots, words, nodes)
    node: NDArray[np.int64],  # IN (slots,)
    ancestor: NDArray[np.int64],  # IN (slots,)
) -> NDArray[np.bool_]:
    """Is `ancestor` the node itself or above it? (slots,)"""
    words = ancestors[np.arange(len(node)), ancestor >> 6, node]
    return ((words >> (ancestor & 63).astype(np.uint64)) & np.uint64(1)).astype(np.bool_)


def select(
    members: NDArray[np.bool_],  # IN (slots, nodes)
    rank: NDArray[np.int64],  # IN (slots,), counted from 0
) -> NDArray[np.int64]:
    """The rank-th member of each slot in the order of labels, (slots,)."""
    seen = np.cumsum(members, axis=1)
    return np.argmax(seen > rank[:, None], axis=1)
