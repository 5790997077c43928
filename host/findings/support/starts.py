"""First trees of the chains that sample for support: far apart, so that their agreement says something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["spread_out"]


def spread_out(
    best: NDArray[np.int32], others: Sequence[NDArray[np.int32]], count: int
) -> list[NDArray[np.int32]]:
    """Return the best tree, and then always the tree that differs most from those already chosen.

    The difference of two trees is the number of mutations with different parents; of equally different trees
    the first is taken. If there are fewer different trees than wanted, they are taken again, in turns.

    Args:
        best: int32, shape (n + 1,): the best tree.
        others: other trees, such as those of all searches.
        count: number of trees.
    """
    chosen = [best]
    apart = np.array([np.count_nonzero(tree != best) for tree in others])
    while len(chosen) < count and apart.any():
        tree = others[int(apart.argmax())]
        chosen.append(tree)
        apart = np.minimum(apart, [np.count_nonzero(other != tree) for other in others])
    return [chosen[number % len(chosen)] for number in range(count)]
