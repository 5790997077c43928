"""Edits of cell trees: how each changes the parents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, REATTACH, Proposals


def edited(
    parent: NDArray[np.int32],  # IN (slots, nodes), the root last
    proposals: Proposals,
) -> NDArray[np.int32]:
    """Return the parents after the edits, (slots, nodes)."""
    after = parent.copy()
    for slot in np.flatnonzero(proposals.edit == REATTACH).tolist():
        _reattach(after[slot], int(proposals.v[slot]), int(proposals.t[slot]))
    at = np.flatnonzero(proposals.edit == EXCHANGE_LABELS)
    v, w = proposals.v[at], proposals.w[at]
    after[at, v], after[at, w] = parent[at, w], parent[at, v]
    return after


def _reattach(
    parent: NDArray[Any],  # IN OUT (nodes,)
    x: int,
    t: int,
) -> None:
    """Attach x above t, which is not its sibling, in place."""
    root = len(parent) - 1
    joint = int(parent[x])
    if joint == root:
        # The sibling would become the root. It gives its children to the root, and is free for x's new place.
        (joint,) = (node for node in _children(parent, root) if node != x)
        parent[_children(parent, joint)] = root
    else:
        (sibling,) = (node for node in _children(parent, joint) if node != x)
        parent[sibling] = parent[joint]
    if t == root:
        # The new root is above the old one: the internal node takes over the root's children.
        parent[_children(parent, root, but=joint)] = joint
        parent[[x, joint]] = root
    else:
        parent[joint] = parent[t]
        parent[[x, t]] = joint


def _children(parent: NDArray[Any], node: int, but: int = -1) -> list[int]:
    """Return the children of a node, except `but`."""
    below: list[int] = np.flatnonzero(parent[:-1] == node).tolist()
    return [child for child in below if child != but]
