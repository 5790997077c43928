"""The maximum score of trees with a recurrent mutation: plain, from the root down."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Score, State
from syclade.fallback.parities.tables import FORBIDDEN, Trees
from syclade.fallback.sums.tables import upwards


def of_cells(state: State, slots: NDArray[Any], found: Any) -> NDArray[Any]:
    """Return the scores of the cells' best nodes, (lanes, columns) int64; FORBIDDEN in such a tree."""
    trees: Trees = found
    mutation = state["recurrent"][slots]
    best = np.stack(
        [
            _best(parent, one, weights[trees.observed])
            for parent, one, weights in zip(
                trees.parents, mutation.tolist(), state["weights"][slots], strict=True
            )
        ]
    )
    return np.where(trees.allowed(mutation)[:, None], best, FORBIDDEN)


def _best(
    parent: NDArray[np.int32],  # IN (nodes,)
    mutation: int,
    weights: NDArray[np.int64],  # IN (mutations, columns)
) -> NDArray[np.int64]:
    """Return the scores at the best nodes of a tree, (columns,)."""
    own = weights[mutation]
    others = np.zeros((len(parent), weights.shape[1]), dtype=np.int64)
    has = np.zeros(len(parent), dtype=np.bool_)
    for above, node in reversed(upwards(parent)):
        copy = node in (mutation, len(parent) - 2)
        has[node] = has[above] ^ copy
        others[node] = others[above] if copy else others[above] + weights[node]
    best: NDArray[np.int64] = np.where(has[:, None], others + own, others).max(axis=0)
    return best


SCORE = Score(of_cells=of_cells)
"""The maximum score."""
