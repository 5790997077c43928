"""Number of nodes that a proposal visits with doublets, on a given tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.options.types import DEFAULT_MOVE_PROBABILITIES

__all__ = ["Visits", "visits_of"]


@dataclass(frozen=True)
class Visits:
    """Means over random proposals.

    Attributes:
        path: nodes whose sums are computed anew.
        children: children of these nodes, whose sums are added.
    """

    path: float
    children: float


def visits_of(parents: NDArray[np.int32], proposals: int, seed: int) -> Visits:
    """Draw proposals with the default probabilities of the moves, and count on the tree before the move.

    A reattached subtree changes the nodes above its old and its new parent; labels that are swapped, those
    above both, with themselves; subtrees that are swapped, those above both parents.

    Args:
        parents: parent vector, int32, shape (n + 1,), n >= 2.
        proposals: number of proposals.
        seed: seed of the draws.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    above = ancestor_matrix(parents)  # above[x, y]: x is y, or above it
    n = len(parents) - 1
    children = np.bincount(parents[:n], minlength=n + 1)
    kinds = rng.choice(3, proposals, p=DEFAULT_MOVE_PROBABILITIES)
    path = added = 0
    for kind in kinds.tolist():
        v, w = rng.choice(n, 2, replace=False).tolist()
        one, other = (v, w) if kind == 1 else (int(parents[v]), int(parents[w]))
        if kind == 0:
            other = int(rng.choice(np.flatnonzero(~above[v])))
        changed = above[:, one] | above[:, other]
        path += int(changed.sum())
        added += int(children[changed].sum())
    return Visits(path / proposals, added / proposals)
