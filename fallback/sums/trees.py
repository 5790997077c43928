"""Edits of mutation trees: how each changes the parents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, EXCHANGE_SUBTREES, REATTACH, TURN_OVER, Proposals


def edited(
    parent: NDArray[np.int32],  # IN (trees, nodes), the root last
    proposals: Proposals,
) -> NDArray[np.int32]:
    """Return the parents after the edits, (trees, nodes)."""
    after = parent.copy()
    tree = np.arange(len(parent))
    v, w, t, edit = proposals.v, proposals.w, proposals.t, proposals.edit
    of_v, of_w = parent[tree, v], parent[tree, w]
    for kind, new_v, new_w in (
        (REATTACH, t, of_w),
        (EXCHANGE_SUBTREES, of_w, of_v),
        (TURN_OVER, of_w, t),
    ):
        at = np.flatnonzero(edit == kind)
        after[at, w[at]] = new_w[at]
        after[at, v[at]] = new_v[at]
    at = np.flatnonzero(edit == EXCHANGE_LABELS)
    if at.size:
        after[at] = _relabelled(parent[at], v[at], w[at])
    return after


def _relabelled(
    parent: NDArray[Any],  # IN (trees, nodes)
    v: NDArray[Any],  # IN (trees,)
    w: NDArray[Any],  # IN (trees,)
) -> NDArray[Any]:
    """Return the parents after v and w swap places."""
    tree = np.arange(len(parent))
    name = np.broadcast_to(np.arange(parent.shape[1], dtype=np.int32), parent.shape).copy()
    name[tree, v], name[tree, w] = w, v
    # Node x takes the place of name[x], whose parent is now called name[parent].
    return np.take_along_axis(name, np.take_along_axis(parent, name, axis=1), axis=1)
