"""The order of a matrix's columns in wide tables: cells of one clade side by side.

Scores are sums over cells in exact integers, so the order changes no result; but a move changes the best
scores of some clade's cells only, and groups of other cells can be passed over (kernels/preorder,
wide/score_change.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["like_columns_together"]

MOST_CLUSTERED = 4096
"""Further columns take the place of the most similar one: clustering needs memory as the square of these."""


def like_columns_together(observed_ones: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A permutation of the columns that puts those with common mutations next to each other.

    The leaves of Ward's hierarchical clustering, with the cosine of the observed mutations as similarity.

    Args:
        observed_ones: shape (mutations, columns): where something speaks for a mutation.

    Returns:
        int64, shape (columns,): the column at each place.
    """
    from scipy.cluster.hierarchy import leaves_list, ward
    from scipy.spatial.distance import squareform

    observed = observed_ones.T.astype(np.float32)
    observed /= np.maximum(np.linalg.norm(observed, axis=1, keepdims=True), 1)
    width = len(observed)
    if width < 3:
        return np.arange(width)
    chosen = np.unique(np.linspace(0, width - 1, min(width, MOST_CLUSTERED)).astype(np.int64))
    distances = 1 - observed[chosen] @ observed[chosen].T
    np.fill_diagonal(distances, 0)
    distances = np.maximum(distances, 0)
    leaves = leaves_list(ward(squareform((distances + distances.T) / 2, checks=False)))
    place = np.empty(len(chosen), dtype=np.int64)
    place[leaves] = np.arange(len(chosen))
    parts = np.array_split(observed, -(-width // MOST_CLUSTERED))  # no larger products than that above
    near = place[np.concatenate([(part @ observed[chosen].T).argmax(axis=1) for part in parts])]
    near[chosen] = place
    return np.argsort(near, kind="stable")
