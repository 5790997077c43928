"""Comparison of a clone tree with the true mutation tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Agreement
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of

__all__ = ["agreement_with"]


def agreement_with(tree: CloneTree, true: NDArray[np.int32]) -> dict[str, Agreement]:
    """Compare the claims of a clone tree with the true tree; pairs in one clone are no claims.

    Args:
        tree: the clone tree.
        true: parent vector of the true tree, int32, shape (n + 1,).

    Returns:
        The agreement on `ancestors`, ordered pairs (ancestor, descendant), and on `lineages`, unordered pairs
        of mutations of which neither is an ancestor of the other.
    """
    other = clone_tree_of(true)
    pairs = {
        "ancestors": (tree.before, other.before),
        "lineages": (np.triu(tree.apart), np.triu(other.apart)),
    }
    return {
        name: Agreement(int((one & two).sum()), int(one.sum()), int(two.sum()))
        for name, (one, two) in pairs.items()
    }
