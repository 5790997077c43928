"""Edits of cell-leaf trees: what each does to parents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, REATTACH, Proposals


def edited(
    parent: NDArray[np.int32],  # IN (slots, nodes), the root last
    proposals: Proposals,
) -> NDArray[np.int32]:
    """The parents after the edits."""
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
    """x goes above t, which is not its sibling."""
    root = len(parent) - 1
    joint = int(parent[x])
    if joint == root:
        # The sibling would be the root: it gives its children to the root, and is free for x's new place.
        (joint,) = (node for node in _children(parent, root) if node != x)
        parent[_children(parent, joint)] = root
    else:
        (sibling,) = (node for node in _children(parent, joint) if node != x)
        parent[sibling] = parent[joint]
    if t == root:
        # The new root is above the old one: the joint takes all that the root has.
        parent[_children(parent, root, but=joint)] = joint
        parent[[x, joint]] = root
    else:
        parent[joint] = parent[t]
        parent[[x, t]] = joint


def _children(parent: NDArray[Any], node: int, but: int = -1) -> list[int]:
    """The children of a node, without one."""
    below: list[int] = np.flatnonzero(parent[:-1] == node).tolist()
    return [child for child in below if child != but]
