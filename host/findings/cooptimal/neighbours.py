"""Neighbours with equal score: all trees that are one move away from a tree and have its score.

A move attaches a subtree elsewhere, or swaps a mutation with its parent.

Let S be the scores of all attachments (one row per node, over the distinct columns), M the best of a
subtree's rows, and O the best of all other rows. Attaching the subtree of v below w gives the score
sum max(O, M - S[parent of v] + S[w]). This takes O(columns) per position and O(n^2 columns) in total. It is
exact: scores are the chain's integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import preorder

__all__ = ["Scorer", "equal_neighbours"]

_LEAST = np.iinfo(np.int64).min // 4
"""Less than any score, and far from the limit of int64."""

_CHUNK = 2**22
"""Number of scores that are computed at once."""


class Scorer(NamedTuple):
    """Input for computing scores.

    Attributes:
        weights: int64, shape (n, distinct columns): what a mutation adds to the score of a column attached
            below it.
        multiplicity: int64, shape (distinct columns,): number of cells with each column.
    """

    weights: NDArray[np.int64]
    multiplicity: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem) -> Scorer:
        """Return the scorer of a problem."""
        return cls(problem.weight_rows().astype(np.int64), problem.multiplicity.astype(np.int64))


class _Tables(NamedTuple):
    """Tables of a tree, with nodes in preorder.

    Attributes:
        order: int32, shape (n + 1,): the node at each position.
        position: int64, shape (n + 1,): the position of each node.
        end: int64, shape (n + 1,): one past the last position of each node's subtree.
        rows: int64, shape (n + 1, columns): scores of attachments at each position.
        above: int64, shape (n + 2, columns): the best of all rows before each position.
        behind: int64, shape (n + 2, columns): the best of all rows from each position on.
    """

    order: NDArray[np.int32]
    position: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int64]
    above: NDArray[np.int64]
    behind: NDArray[np.int64]


def equal_neighbours(scorer: Scorer, parents: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
    """Return a tree's score, and all trees one move away that have the same score.

    Args:
        scorer: scorer of the problem.
        parents: parent vector, int32, shape (n + 1,).

    Returns:
        The score in units of 2^-f nat, and int32, shape (trees, n + 1): the trees, in a fixed order.
    """
    tables = _tables_of(scorer, parents)
    score = int((tables.above[-1] * scorer.multiplicity).sum())
    trees = [*_elsewhere(scorer, parents, tables, score), *_above_parents(scorer, parents, tables, score)]
    return score, np.array(trees, dtype=np.int32).reshape(len(trees), len(parents))


def _tables_of(scorer: Scorer, parents: NDArray[np.int32]) -> _Tables:
    nodes, columns = len(parents), scorer.weights.shape[1]
    order = preorder(parents)
    position = np.empty(nodes, dtype=np.int64)
    position[order] = np.arange(nodes)
    size = np.ones(nodes, dtype=np.int64)
    rows = np.zeros((nodes, columns), dtype=np.int64)
    for node in order[1:].tolist():
        rows[position[node]] = rows[position[parents[node]]] + scorer.weights[node]
    for node in order[:0:-1].tolist():
        size[parents[node]] += size[node]
    edge = np.full((1, columns), _LEAST, dtype=np.int64)
    above = np.maximum.accumulate(np.concatenate([edge, rows]), axis=0)
    behind = np.maximum.accumulate(np.concatenate([rows, edge])[::-1], axis=0)[::-1]
    return _Tables(order, position, position + size, rows, above, behind)


def _best(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    best: NDArray[np.int64] = rows.max(axis=0, initial=_LEAST)
    return best


def _elsewhere(
    scorer: Scorer, parents: NDArray[np.int32], tables: _Tables, score: int
) -> list[NDArray[np.int32]]:
    """Return the trees of equal score in which a subtree is attached to another node."""
    nodes, columns = tables.rows.shape
    mutations = np.arange(nodes - 1)
    begin, end = tables.position[mutations], tables.end[mutations]
    outside = np.maximum(tables.above[begin], tables.behind[end])
    best = np.array([_best(tables.rows[b:e]) for b, e in zip(begin, end, strict=True)])
    shifts = best - tables.rows[tables.position[parents[mutations]]]
    found = []
    step = max(1, _CHUNK // (nodes * columns))
    for first in range(0, nodes - 1, step):
        some = slice(first, first + step)
        columnwise = np.maximum(outside[some, None], shifts[some, None] + tables.rows[None])
        equal = columnwise @ scorer.multiplicity == score
        for chosen, at in zip(*np.nonzero(equal), strict=True):
            node, place = first + int(chosen), int(tables.order[at])
            if begin[node] <= at < end[node] or place == parents[node]:
                continue
            tree = parents.copy()
            tree[node] = place
            found.append(tree)
    return found


def _above_parents(
    scorer: Scorer, parents: NDArray[np.int32], tables: _Tables, score: int
) -> list[NDArray[np.int32]]:
    """Return the trees of equal score in which a mutation and its parent have swapped labels."""
    root, rows, found = len(parents) - 1, tables.rows, []
    for node in range(root):
        upper = int(parents[node])
        if upper == root:
            continue
        change = scorer.weights[node] - scorer.weights[upper]
        begin, end = tables.position[upper], tables.end[upper]
        first, last = tables.position[node], tables.end[node]
        beside = np.maximum(_best(rows[begin:first]), _best(rows[last:end])) + change  # with the upper node
        outside = np.maximum(tables.above[begin], tables.behind[end])
        best = np.maximum(np.maximum(outside, beside), _best(rows[first:last]))
        if int((best * scorer.multiplicity).sum()) != score:
            continue
        tree = parents.copy()
        tree[parents == node] = upper
        tree[parents == upper] = node
        tree[node], tree[upper] = parents[upper], node
        found.append(tree)
    return found
