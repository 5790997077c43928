"""The mutation tree of a search (the mirror of `kernels/search/mutation_tree.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class MutationTree:
    """A tree, its preorder, and the score of every column at every node.

    A node that is its own parent, and no root, is out of the tree.

    Attributes:
        parents: (nodes,) int64; the root is the last. Whoever changes it numbers the nodes again.
        weights: (mutations, columns) int32.
        scores: (nodes, columns) int32. Whoever changes parents sees to them.
        children: of every node, in ascending order.
        order: the node at each position of the preorder, as many as are in the tree.
        position, size: (nodes,) of every node and its subtree; 0 of those out of the tree.
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
        """Children, order, positions and sizes from the parents."""
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
        """v and its descendants; none if it is out of the tree."""
        return self.order[self.position[v] : self.position[v] + self.size[v]]

    def take_out(self, v: int) -> None:
        """v leaves the tree, if it is there; its children go to its parent. Nodes are not numbered again."""
        self.scores[self.subtree(v)] -= self.weights[v]
        self.parents[:-1][self.parents[:-1] == v] = self.parents[v]
        self.parents[v] = v

    def score_new(self, v: int) -> None:
        """Number the nodes, of which v is new."""
        self.number()
        self.scores[v] = self.scores[self.parents[v]]
        self.scores[self.subtree(v)] += self.weights[v]

    def score(self) -> int:
        """Every column at its best."""
        return int(self.scores[self.order].max(axis=0).sum(dtype=np.int64))
