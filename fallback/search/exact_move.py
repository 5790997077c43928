"""Exact move: a mutation goes to the best of four kinds of place at every node.

The mutation is taken out of the tree and tried as a leaf below t; below t with all of its children; on the
edge above x; below one t with those of its children that gain most; and with its old children at its old
place. The mirror of `kernels/search/exact_move.py`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.attachment import attach, sum_weights
from syclade.fallback.search.draws import BONUS, keys_of
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.fallback.search.stages import sweeps_of

PLACES = 4
"""Places per node: as a leaf, on the edge above, above all its children, above some of them."""

LOWEST = -(1 << 29)
"""Below every score, and still far from the lower end of int32."""


class Offer(NamedTuple):
    """A place: v goes below a node, and some of its children go below v."""

    key: int
    node: int
    children: list[int]


class Tables(NamedTuple):
    """Rows over columns, one per position of the preorder.

    Attributes:
        scores: scores of attachments.
        below: score of the best attachment at or below each node.
        outside: score of the best attachment elsewhere.
        now: (columns,): score of the best attachment of all.
    """

    scores: NDArray[np.int32]
    below: NDArray[np.int32]
    outside: NDArray[np.int32]
    now: NDArray[np.int32]


def tables_of(tree: MutationTree) -> Tables:
    """Return the tables of the whole tree."""
    scores = tree.scores[tree.order]
    below = scores.copy()
    upper = tree.position[tree.parents[tree.order]].tolist()
    for place in range(len(upper) - 1, 0, -1):
        np.maximum(below[upper[place]], below[place], out=below[upper[place]])
    # The nodes outside of a subtree come before or after it in preorder.
    before, behind = (np.full((len(upper) + 1, scores.shape[1]), LOWEST, np.int32) for _ in range(2))
    np.maximum.accumulate(scores, axis=0, out=before[1:])
    np.maximum.accumulate(scores[::-1], axis=0, out=behind[:-1][::-1])
    end = np.arange(len(upper)) + tree.size[tree.order]
    return Tables(scores, below, np.maximum(before[:-1], behind[end]), below[0])


class ExactMove:
    """The exact move (`stages.Move`); v may be out of the tree before."""

    def __init__(self, tree: MutationTree) -> None:
        self.tree = tree

    def __call__(self, v: int, score: int, gumbel: NDArray[np.int64]) -> int:
        """Move v to its best place; return the tree's score."""
        tree = self.tree
        old, kids = int(tree.parents[v]), tree.children[v]
        tree.take_out(v)
        tree.number()
        tables, gumbel = tables_of(tree), gumbel.reshape(PLACES, -1)
        best = self._best_of_all(tables, v, gumbel)
        node, children = self._wanting(v)
        if children:
            gain = self._above_marked(tables, v, node, children)
            best = max(best, Offer(keys_of(gain, int(gumbel[3, node])), node, children), key=lambda o: o.key)
        if len(kids) > 1:
            gain = self._above_marked(tables, v, old, kids)
            best = max(best, Offer(keys_of(gain, int(gumbel[3, v])) + BONUS, old, kids), key=lambda o: o.key)
        tree.parents[v] = best.node
        tree.parents[best.children] = v
        tree.score_new(v)
        return tree.score()

    def _best_of_all(self, tables: Tables, v: int, gumbel: NDArray[np.int64]) -> Offer:
        """Return the best offer among leaves, edges, and nodes with all their children."""
        tree, weights = self.tree, self.tree.weights[v]
        order, upper = tree.order, tree.position[tree.parents[tree.order]]
        scores, below, outside, now = tables
        most = scores + weights
        leaf = np.maximum(most, now, out=most).sum(axis=1, dtype=np.int64)
        over = np.maximum(below + weights, np.maximum(outside, scores)).sum(axis=1, dtype=np.int64)
        with_v = np.maximum(below[1:], scores[upper[1:]]) + weights
        edge = np.maximum(with_v, outside[1:], out=with_v).sum(axis=1, dtype=np.int64)
        several = np.flatnonzero([len(tree.children[node]) > 1 for node in order.tolist()])
        gains = np.concatenate((leaf, over[several], edge)) - now.sum(dtype=np.int64)
        keys = keys_of(
            gains, np.concatenate((gumbel[0, order], gumbel[2, order[several]], gumbel[1, order[1:]]))
        )
        # Ties go to the first: by nodes in preorder, and per node the leaf, all children, then the edges.
        nodes = np.concatenate((np.arange(len(order)), several, upper[1:]))
        kinds = np.concatenate((np.full(len(leaf), -2), np.full(len(several), -1), order[1:]))
        highest = np.flatnonzero(keys == keys.max())
        chosen = int(highest[np.lexsort((kinds[highest], nodes[highest]))[0]])
        return self._offer(int(keys[chosen]), chosen, several)

    def _offer(self, key: int, chosen: int, several: NDArray[Any]) -> Offer:
        tree = self.tree
        if chosen < len(tree.order):
            return Offer(key, int(tree.order[chosen]), [])
        chosen -= len(tree.order)
        if chosen < len(several):
            node = int(tree.order[several[chosen]])
            return Offer(key, node, tree.children[node])
        child = int(tree.order[chosen - len(several) + 1])
        return Offer(key, int(tree.parents[child]), [child])

    def _wanting(self, v: int) -> tuple[int, list[int]]:
        """Return the node with three children or more where v adds most, and the children that gain.

        The children are empty unless at least two of them gain, but not all.
        """
        tree = self.tree
        sums = sum_weights(tree, attach(tree), v)
        nodes = [node for node in tree.order.tolist() if len(tree.children[node]) > 2]
        if not nodes:
            return -1, []
        node = nodes[int(sums.hope[nodes].argmax())]
        marked = [child for child in tree.children[node] if sums.gain[child] > 0]
        return node, marked if 1 < len(marked) < len(tree.children[node]) else []

    def _above_marked(self, tables: Tables, v: int, node: int, marked: list[int]) -> int:
        """Return what columns gain with v below the node and above its marked children."""
        tree, place = self.tree, self.tree.position[node]
        others = [child for child in tree.children[node] if child not in marked]
        upper = tables.scores[place]
        beside = np.vstack((tables.below[tree.position[others]], tables.outside[place], upper)).max(axis=0)
        with_v = np.maximum(tables.below[tree.position[marked]].max(axis=0), upper) + tree.weights[v]
        return int((np.maximum(with_v, beside) - tables.now).sum(dtype=np.int64))


EXACT = sweeps_of(ExactMove, PLACES)
