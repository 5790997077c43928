"""The mutation tree of a search (the mirror of `kernels/search/mutation_tree.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class MutationTree:
    """A tree, its preorder, and the score of every column at every node.

    A node other than the root that is its own parent is out of the tree.

    Attributes:
        parents: (nodes,) int64; the root is the last. After changes, call `number`.
        weights: (mutations, columns) int32.
        scores: (nodes, columns) int32. After changes of parents, update them.
        children: of every node, in ascending order.
        order: the node at each position of the preorder, for the nodes that are in the tree.
        position, size: (nodes,): position of every node, and size of its subtree; 0 for nodes out of the
            tree.
    """

    def __init__(self, parents: NDArray[np.integer[Any]], weights: NDArray[np.int32]) -> None:
        self.parents = parents.astype(np.int64)
        self.weights = weights
        self.root = len(weights)
        self.scores = np.zeros((self.root + 1, weights.shape[1]), dtype=np.int32)
        self.number()
        for node in self.order[1:].tolist():
            self.scores[node] = self.scores[self.parents[node]] + weights[node]

    def number(self) -> None:
        """Compute children, order, positions and sizes from the parents."""
        parents = self.parents.tolist()
        self.children: list[list[int]] = [[] for _ in parents]
        for node, parent in enumerate(parents[: self.root]):
            if parent != node:
                self.children[parent].append(node)
        order, pending = [], [self.root]
        while pending:
            node = pending.pop()
            order.append(node)
            pending.extend(reversed(self.children[node]))
        size = [0] * len(parents)
        for node in reversed(order):
            size[node] += 1
            if node != self.root:
                size[parents[node]] += size[node]
        self.order, self.size = np.array(order), np.array(size)
        self.position = np.zeros(len(parents), dtype=np.int64)
        self.position[self.order] = np.arange(len(order))

    def subtree(self, v: int) -> NDArray[np.int64]:
        """Return v and its descendants; nothing if v is out of the tree."""
        return self.order[self.position[v] : self.position[v] + self.size[v]]

    def take_out(self, v: int) -> None:
        """Take v out of the tree, if it is in; its children go to its parent. Nodes are not renumbered."""
        self.scores[self.subtree(v)] -= self.weights[v]
        self.parents[:-1][self.parents[:-1] == v] = self.parents[v]
        self.parents[v] = v

    def score_new(self, v: int) -> None:
        """Renumber the nodes after v was inserted, and update the scores."""
        self.number()
        self.scores[v] = self.scores[self.parents[v]]
        self.scores[self.subtree(v)] += self.weights[v]

    def score(self) -> int:
        """Return the tree's score, every column at its best node."""
        return int(self.scores[self.order].max(axis=0).sum(dtype=np.int64))
