"""Trees of many slots: descendants from parents, and questions that moves ask."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def below_of(
    parent: NDArray[np.int32],  # IN (slots, nodes)
) -> NDArray[np.bool_]:
    """(slots, nodes, nodes): [s, a, b] is true if a is b or above it."""
    slots, nodes = parent.shape
    below = np.zeros((slots, nodes, nodes), dtype=np.bool_)
    slot, node = np.ogrid[:slots, :nodes]
    above = np.broadcast_to(node, parent.shape)
    while True:
        below[slot, above, node] = True
        if (above == nodes - 1).all():
            return below
        above = parent[slot, above]


def is_descendant(
    below: NDArray[np.bool_],  # IN (slots, nodes, nodes)
    node: NDArray[Any],  # IN (slots,)
    ancestor: NDArray[Any],  # IN (slots,)
) -> NDArray[np.bool_]:
    """Is `ancestor` the node itself or above it? (slots,)"""
    return below[np.arange(len(node)), ancestor, node]


def select(
    members: NDArray[np.bool_],  # IN (slots, nodes)
    rank: NDArray[np.int64],  # IN (slots,), counted from 0
) -> NDArray[np.int64]:
    """The rank-th member of each slot in the order of labels, (slots,)."""
    return np.argmax(np.cumsum(members, axis=1) > rank[:, None], axis=1)
