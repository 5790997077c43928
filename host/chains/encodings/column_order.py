"""Order of a matrix's columns in wide tables: cells of one clade are placed side by side.

Scores are sums over cells in exact integers, so the order does not change results. But a move changes only
the best scores of some clade's cells, and kernels can skip groups of other cells
(kernels/preorder/wide/score_change.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["like_columns_together"]

MOST_CLUSTERED = 4096
"""Maximum number of columns to cluster, as memory grows with its square.

Further columns are placed beside the most similar clustered one.
"""


def like_columns_together(observed_ones: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return a permutation of the columns that places those with common mutations next to each other.

    The order is that of the leaves of Ward's hierarchical clustering, with the cosine of the observed
    mutations as similarity.

    Args:
        observed_ones: bool, shape (mutations, columns): True where the observation supports the mutation.

    Returns:
        int64, shape (columns,): the column at each position.
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
    parts = np.array_split(observed, -(-width // MOST_CLUSTERED))  # products are no larger than the one above
    near = place[np.concatenate([(part @ observed[chosen].T).argmax(axis=1) for part in parts])]
    near[chosen] = place
    return np.argsort(near, kind="stable")
