"""Cells as two nodes of a tree together, where nodes have shares of the cells (docs/model.md, "Shares").

A cell is a single cell of node v with probability (1 - d) pi_v, and a doublet of the nodes v and w with
probability d pi_v pi_w. All sums over pairs take O(n) per column; several trees are walked together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.likelihood import shares_of
from syclade.host.data.trees.tree import levels_of

__all__ = [
    "Forest", "Kinds", "PairTerms", "draw_counts", "fit_shares", "kinds_of", "pair_presence", "pair_terms",
]  # fmt: skip

_MOST_ROUNDS, _SAME = 200, 1e-4
"""Most rounds of expectation and maximisation, and the change of all shares that ends them."""


class _Siblings(NamedTuple):
    """Nodes at one depth of some trees, of which no two have the same parent; as rows of all nodes.

    Attributes:
        rows, parents: int64, shape (nodes,): rows of the nodes, and of their parents, in a table with those
            of each tree one after the other.
    """

    rows: NDArray[np.int64]
    parents: NDArray[np.int64]


class Forest:
    """Several trees, in an order in which they can be walked together.

    Args:
        trees: int32, shape (trees, n + 1).
    """

    def __init__(self, trees: NDArray[np.int32]) -> None:
        self.trees, self.nodes, self._parents = len(trees), trees.shape[1], trees
        self.root = np.arange(1, self.trees + 1) * self.nodes - 1
        self.down: list[_Siblings] = []
        self.up: list[_Siblings] = []
        for level in levels_of(trees):
            base = level.trees * self.nodes
            self.down.append(_Siblings(base + level.nodes, base + level.parents))
        for rows, parents in reversed(self.down):
            order = np.lexsort((rows, parents))
            rows, parents = rows[order], parents[order]
            first = np.concatenate(([True], parents[1:] != parents[:-1]))
            starts = np.flatnonzero(first)
            rank = np.arange(len(rows)) - starts[np.cumsum(first) - 1]
            self.up += [
                _Siblings(rows[rank == number], parents[rank == number]) for number in range(rank.max() + 1)
            ]

    def meetings(self, tree: int, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lowest common ancestor of each node of a tree and some nodes: (nodes, chosen)."""
        root, at = self.nodes - 1, np.arange(len(chosen))
        found = np.full((self.nodes, len(chosen)), -1)
        while (chosen != root).any():
            found[chosen, at] = chosen
            chosen = self._parents[tree, chosen]
        found[root] = root
        first, after = tree * self.nodes, (tree + 1) * self.nodes
        for rows, parents in self.down:
            own = (rows >= first) & (rows < after)
            nodes, above = rows[own] - first, parents[own] - first
            found[nodes] = np.where(found[nodes] < 0, found[above], found[nodes])
        return found

    def of_all(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the mutations in columns, (n, columns), for the rows of all trees; 0 at roots."""
        return np.tile(np.concatenate((rows, np.zeros_like(rows[:1]))), (self.trees, 1))


class PairTerms(NamedTuple):
    """Logarithms to base 2 of what nodes contribute to a column: float64, (rows of all trees, columns).

    Attributes:
        scores: score of each node, relative to the root.
        below: sum over the nodes in the subtree of each node v: pi_w 2^(S(w) - S(v)).
        partners: sum over all nodes w: pi_w 2^(S(w) - S(lowest common ancestor of v and w)).
    """

    scores: NDArray[np.float64]
    below: NDArray[np.float64]
    partners: NDArray[np.float64]


def pair_terms(forest: Forest, weights: NDArray[np.float64], log_shares: NDArray[np.float64]) -> PairTerms:
    """Return what a doublet's first node contributes, for all nodes: O(n) per column.

    The partners of v are the nodes at and below v, and all others. Those are the parent of v, what is below
    the siblings of v, and the others of the parent. These are added up before v and after it among the
    siblings, never subtracted: what is below v can be so much more that nothing would be left of them.

    Args:
        forest: the trees.
        weights: shape (rows of all trees, columns), in octaves; 0 at the roots.
        log_shares: shape (rows of all trees, 1), in octaves.
    """
    scores, below = np.zeros_like(weights), np.repeat(log_shares, weights.shape[1], axis=1)
    others, later = np.full_like(weights, -np.inf), np.full_like(weights, -np.inf)
    for rows, parents in forest.up:
        others[rows] = below[parents]  # the parent, and the siblings before
        below[parents] = np.logaddexp2(others[rows], weights[rows] + below[rows])
    for rows, parents in reversed(forest.up):
        others[rows] = np.logaddexp2(others[rows], later[parents])
        later[parents] = np.logaddexp2(later[parents], weights[rows] + below[rows])
    for rows, parents in forest.down:
        scores[rows] = scores[parents] + weights[rows]
        others[rows] = np.logaddexp2(others[rows], others[parents])
    return PairTerms(scores, below, np.logaddexp2(below, others))


class Kinds(NamedTuple):
    """Logarithms to base 2 of the likelihoods of what a cell may be: float64, (rows of all trees, columns).

    Attributes:
        terms: the terms that they follow from.
        shared: score of each node, times its share.
        single: a single cell of each node.
        pair: a doublet whose first node is this one.
    """

    terms: PairTerms
    shared: NDArray[np.float64]
    single: NDArray[np.float64]
    pair: NDArray[np.float64]

    def probabilities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities of being each of these, in one tree."""
        most = np.maximum(self.single.max(axis=0), self.pair.max(axis=0))
        single, pair = np.exp2(self.single - most), np.exp2(self.pair - most)
        total = single.sum(axis=0) + pair.sum(axis=0)
        return single / total, pair / total


def kinds_of(
    forest: Forest, weights: NDArray[np.float64], log_shares: NDArray[np.float64], rate: float
) -> Kinds:
    """Return the likelihoods of single cells and of doublets; arguments as for `pair_terms`, and the rate."""
    terms = pair_terms(forest, weights, log_shares)
    of_single, of_pair = (math.log2(part) if part else -math.inf for part in (1.0 - rate, rate))
    shared = terms.scores + log_shares
    return Kinds(terms, shared, shared + of_single, shared + terms.partners + of_pair)


def draw_counts(
    forest: Forest, tree: int, kinds: Kinds, columns: NDArray[np.int64], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the numbers of cells at the nodes of a tree after a draw of the node or nodes of each cell.

    Args:
        forest, tree: the trees, and the number of one.
        kinds: likelihoods in all trees.
        columns: int64, shape (cells,): column of each cell.
        uniform: float64, shape (2, cells): uniform numbers between 0 and 1.

    Returns:
        int64, shape (nodes,); a doublet counts at both of its nodes.
    """
    nodes = forest.nodes
    own = slice(tree * nodes, (tree + 1) * nodes)
    chosen = _drawn(np.concatenate((kinds.single[own], kinds.pair[own]))[:, columns], uniform[0])
    counts = np.bincount(chosen % nodes, minlength=nodes)
    (pairs,) = (chosen >= nodes).nonzero()
    if pairs.size:
        at = columns[pairs]
        above = forest.meetings(tree, chosen[pairs] - nodes)
        others = _drawn(kinds.shared[own][:, at] - kinds.terms.scores[own][above, at], uniform[1, pairs])
        counts += np.bincount(others, minlength=nodes)
    return counts


def _drawn(logarithms: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a drawn row for each column of logarithms to base 2 of relative probabilities."""
    ends = np.cumsum(np.exp2(logarithms - logarithms.max(axis=0)), axis=0)
    return np.asarray((ends <= uniform * ends[-1]).sum(axis=0))


def pair_presence(
    tree: NDArray[np.int32], weights: NDArray[np.float64], shares: NDArray[np.float64] | None, rate: float
) -> NDArray[np.float64]:
    """Return the probability that each cell has each mutation, in either of its nodes: float64, (n, cells).

    A doublet has a mutation if its first node or its second one is at or below it. Both are equally probable,
    so the pairs with both there are counted twice and have to be taken off once.

    Args:
        tree: int32, shape (n + 1,): a parent vector.
        weights: float64, shape (n, cells): what each mutation adds to the score of a cell, in octaves.
        shares: float64, shape (n + 1,): part of the cells at each node; equal by default.
        rate: rate of doublets, above 0.
    """
    forest, nodes = Forest(tree[None]), len(tree)
    logs = np.full((nodes, 1), -math.log2(nodes)) if shares is None else np.log2(shares)[:, None]
    kinds = kinds_of(forest, forest.of_all(weights), logs, rate)
    most = np.maximum(kinds.single.max(axis=0), kinds.pair.max(axis=0))
    below = np.exp2(kinds.single - most) + 2.0 * np.exp2(kinds.pair - most)
    total = np.exp2(kinds.single - most).sum(axis=0) + np.exp2(kinds.pair - most).sum(axis=0)
    both = _pairs_below(forest, weights, logs, kinds.terms)
    twice = np.exp2(both + kinds.terms.scores + math.log2(rate) - most)
    for level in forest.up:
        below[level.parents] += below[level.rows]
    return np.asarray((below - twice)[:-1] / total)


def _pairs_below(
    forest: Forest, weights: NDArray[np.float64], log_shares: NDArray[np.float64], terms: PairTerms
) -> NDArray[np.float64]:
    """Return the sum over ordered pairs of nodes in the subtree of each node, relative to the node's score.

    Those whose lowest common ancestor is the node: its children are added one by one, so that all terms are
    positive; and those in the subtree of one child.
    """
    seen = np.repeat(log_shares, weights.shape[1], axis=1)  # the node and the children so far
    pairs = 2.0 * seen
    for rows, parents in forest.up:
        child, upper = weights[rows] + terms.below[rows], seen[parents]
        inside = np.logaddexp2(weights[rows] + pairs[rows], 1.0 + upper + child)
        pairs[parents] = np.logaddexp2(pairs[parents], inside)
        seen[parents] = np.logaddexp2(upper, child)
    return pairs


def fit_shares(
    parents: NDArray[np.int32],
    weights: NDArray[np.float64],
    cells: NDArray[np.float64],
    rate: float,
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the shares under which a tree is most likely, float64, shape (n + 1,): by EM.

    Args:
        parents: int32, shape (n + 1,): the tree.
        weights: float64, shape (n, columns): what each mutation adds to the score of a column, in octaves.
        cells: float64, shape (columns,): number of cells of each column.
        rate: rate of doublets.
        start: the first shares; equal by default.

    Source: Dempster, Laird, Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977.
    """
    forest = Forest(parents[None])
    shares = np.full(len(parents), 1.0 / len(parents)) if start is None else start
    of_all = forest.of_all(weights)
    for _ in range(_MOST_ROUNDS):
        single, pair = kinds_of(forest, of_all, np.log2(shares)[:, None], rate).probabilities()
        before, shares = shares, shares_of((single + 2.0 * pair) @ cells)
        if np.abs(shares - before).max() < _SAME:
            break
    return shares
