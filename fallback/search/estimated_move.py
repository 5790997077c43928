"""Estimated move: a mutation goes where it adds most while all columns stay attached where they are.

The mirror of `kernels/search/estimated_move.py`.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.attachment import Sums, attach, sum_weights
from syclade.fallback.search.draws import BONUS, keys_of
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.fallback.search.stages import sweeps_of


class EstimatedMove:
    """The estimated move (`stages.Move`)."""

    def __init__(self, tree: MutationTree) -> None:
        self.tree = tree
        self.attached = attach(tree)

    def __call__(self, v: int, score: int, gumbel: NDArray[np.int64]) -> int:
        """Move v to where it adds most; return the tree's score."""
        sums = sum_weights(self.tree, self.attached, v)
        best = self._best_place(v, sums, gumbel)
        if best == v:
            return score
        tree = self.tree
        tree.take_out(v)
        children = tree.parents[:-1]
        children[(children == best) & (np.arange(tree.root) != best) & (sums.gain[:-1] > 0)] = v
        tree.parents[v] = best
        tree.score_new(v)
        self.attached = attach(tree)
        return tree.score()

    def _best_place(self, v: int, sums: Sums, gumbel: NDArray[np.int64]) -> int:
        """Return the node below which v adds most; v itself if it stays where it is."""
        allowed = np.ones(len(gumbel), dtype=np.bool_)
        old = self.tree.parents[v]
        allowed[old] = sums.hope[old] > sums.now
        allowed[v] = False
        places = np.concatenate(([v], np.flatnonzero(allowed)))
        scores = sums.hope[places]
        scores[0] = sums.now
        keys = keys_of(scores, gumbel[places])
        keys[0] += BONUS
        return int(places[keys.argmax()])


ESTIMATED = sweeps_of(EstimatedMove)
