"""Counts of the values on the path from the root to each node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import preorder

__all__ = ["path_counts"]


def path_counts(values: NDArray[np.uint8], tree: NDArray[np.int32]) -> Iterator[NDArray[np.float64]]:
    """Yield how often each value is on the path to a node, for the nodes in preorder, the root first.

    Args:
        values: uint8, shape (mutations, cells), entries 0 to 3.
        tree: int32, shape (mutations + 1,): a valid parent vector.

    Yields:
        float64, shape (4, cells), row d the value: one array, which changes between two nodes.
    """
    # Counts, not sums of floats: subtracting the nodes that the walk leaves is exact.
    observed = np.arange(4, dtype=np.uint8)[:, np.newaxis]
    counts, path = np.zeros((4, values.shape[1])), [tree.size - 1]
    yield counts
    for node in preorder(tree).tolist()[1:]:
        while path[-1] != tree[node]:
            counts -= values[path.pop()] == observed
        counts += values[node] == observed
        path.append(node)
        yield counts
