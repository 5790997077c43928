"""Subtree move: a subtree goes below its best node.

The mirror of `kernels/search/subtree_move.py`.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.draws import BONUS, keys_of
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.fallback.search.stages import sweeps_of


class SubtreeMove:
    """The subtree move (`stages.Move`)."""

    def __init__(self, tree: MutationTree) -> None:
        self.tree = tree

    def __call__(self, v: int, score: int, gumbel: NDArray[np.int64]) -> int:
        """Move v's subtree to its best place; return the tree's score."""
        tree = self.tree
        old, moving = tree.parents[v], tree.subtree(v)
        start = tree.position[v]
        places = np.concatenate((tree.order[:start], tree.order[start + len(moving) :]))
        gains = self._gains(places, moving, old)
        now = gains[tree.position[old]]  # a parent comes before its child
        # The current place is the first of equals.
        keys = keys_of(np.concatenate(([now], gains)), np.concatenate(([gumbel[old]], gumbel[places])))
        keys[0] += BONUS
        best = int(keys.argmax()) - 1
        if best < 0 or places[best] == old:
            return score
        tree.scores[moving] += tree.scores[places[best]] - tree.scores[old]
        tree.parents[v] = places[best]
        tree.number()
        return score + int(gains[best] - now)

    def _gains(self, places: NDArray[np.int64], moving: NDArray[np.int64], old: int) -> NDArray[np.int64]:
        """Return what all columns gain with the subtree below each place."""
        scores = self.tree.scores[places]
        rise = self.tree.scores[moving].max(axis=0) - self.tree.scores[old]
        scores += rise - scores.max(axis=0)
        return np.maximum(scores, 0, out=scores).sum(axis=1, dtype=np.int64)


SUBTREES = sweeps_of(SubtreeMove)
