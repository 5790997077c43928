"""Two measures for trees whose nodes have sets of mutations: MLTD, and the similarity of MP3.

MLTD: Karpov, Malikic, Rahman, Sahinalp, "A multi-labeled tree dissimilarity measure for comparing clonal
trees of tumor progression", Algorithms for Molecular Biology 14:17, 2019. MP3: Ciccolella, Bernardini, Denti,
Bonizzoni, Previtali, Della Vedova, "Triplet-based similarity score for fully multilabeled trees with
poly-occurring labels", Bioinformatics 37(2), 2021. Both are computed from their definitions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import ancestor_matrix, children, preorder
from syclade.host.ground.values import JsonObject

__all__ = ["MultiLabel", "mp3_similarity", "multi_label_distance"]

Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class MultiLabel:
    """MLTD of two trees.

    Attributes:
        common: most mutations of a tree that both can be turned into.
        found, true: numbers of mutations of the two trees.
        either: number of mutations of at least one of them.
    """

    common: int
    found: int
    true: int
    either: int

    @property
    def distance(self) -> int:
        """Fewest mutations to delete in both trees until they have a common tree."""
        return self.found + self.true - 2 * self.common

    @property
    def similarity(self) -> float:
        """Common mutations divided by those of either tree: 1 for equal trees."""
        return self.common / self.either if self.either else 1.0

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        return {"mltd": self.distance, "mltd_similarity": self.similarity}


def multi_label_distance(
    parents: Nodes, node: Nodes, true: Nodes, true_node: Nodes, others: tuple[int, int] = (0, 0)
) -> MultiLabel:
    """Return MLTD, the fewest mutations to delete until two trees have a common tree.

    Besides, a node may be split into two, one above the other, that share its mutations, and a leaf without
    mutations removed. So mutations that are kept need a common order along each lineage, and lineages that
    branch in one tree branch in the other.

    Let G(x, y) be the most mutations that the trees below x and y can keep, with those of x and y. It is the
    number of mutations that x and y share, and the highest of three: G(child of x, y), as one may go down in
    one tree alone; G(x, child of y); and the best matching of the children of x with those of y, by their G.
    The paper has tables of paths instead, with the same optimum.

    Args:
        parents, true: parents of the nodes of the two trees, int32, the root last.
        node, true_node: nodes of the mutations that both trees have, int32, in the same order.
        others: numbers of further mutations, which only one of the trees has.
    """
    at: list[list[int]] = [[] for _ in parents]
    for x, y in zip(node.tolist(), true_node.tolist(), strict=True):
        at[x].append(y)
    place = np.empty(len(true), dtype=np.int64)  # from the leaves to the root
    place[preorder(true)[::-1]] = np.arange(len(true))
    below, true_below, above = children(parents), children(true), true.tolist()
    best: list[dict[int, int]] = [{} for _ in below]  # G(x, y) by y, where it is not 0
    for x in preorder(parents)[::-1].tolist():
        rows = [best[child] for child in below[x] if best[child]]
        own = _highest(rows)
        here = Counter(at[x])
        for y in here:
            while y not in own:
                own[y], y = 0, above[y]
        for y in sorted(own, key=place.__getitem__) if here or len(rows) > 1 else ():
            value = max([own[y], *(own.get(child, 0) for child in true_below[y])])
            if len(rows) > 1 and len(true_below[y]) > 1:
                value = _matched([[row.get(child, 0) for child in true_below[y]] for row in rows], value)
            own[y] = value + here[y] if y in here else value
        best[x] = own
        for child in below[x]:
            best[child] = {}
    found, of_true = len(node) + others[0], len(node) + others[1]
    return MultiLabel(best[-1].get(len(true) - 1, 0), found, of_true, len(node) + sum(others))


def _highest(rows: Sequence[dict[int, int]]) -> dict[int, int]:
    """Return the highest value of each key."""
    found = dict(rows[0]) if rows else {}
    for row in rows[1:]:
        for key, value in row.items():
            if value > found.get(key, 0):
                found[key] = value
    return found


def _matched(table: Sequence[Sequence[int]], least: int) -> int:
    """Return the value of the best matching of rows and columns, if it is above the least value, else that.

    Args:
        table: values of pairs, none negative.
        least: a value that is reached without the matching.
    """
    tops = [max(row) for row in table]
    if sum(tops) <= least:
        return least
    chosen = [row.index(top) for row, top in zip(table, tops, strict=True) if top]
    if len(set(chosen)) == len(chosen):
        return sum(tops)
    from scipy.optimize import linear_sum_assignment

    values = np.array(table)
    return max(least, int(values[linear_sum_assignment(values, maximize=True)].sum()))


def mp3_similarity(parents: Nodes, node: Nodes, true: Nodes, true_node: Nodes) -> float:
    """Return the share of triples of mutations whose smallest common topology is the same in two trees.

    The topology of a triple is the relation of each pair and, if all three are on different lineages, the
    pair that parts last, if there is one. So the triples that agree are the triangles of agreeing pairs,
    without the triples on three lineages that part in another order. The root is no mutation here, and only
    mutations of both trees count (MP3's "intersection"; where trees have the same labels, its other scores
    are equal to it). It is NaN for fewer than three mutations.

    Args:
        parents, node, true, true_node: as for `multi_label_distance`.
    """
    count = len(node)
    if count < 3:
        return math.nan
    (relation, depth), (true_relation, true_depth) = _relations(parents, node), _relations(true, true_node)
    agree = relation == true_relation
    np.fill_diagonal(agree, False)
    lineages, other = agree & (relation == 0), 0
    for one in range(count - 2):
        later = one + 1 + np.flatnonzero(lineages[one, one + 1 :])
        some = np.ix_(np.append(one, later), np.append(one, later))
        other += _parted_otherwise(depth[some], true_depth[some], lineages[np.ix_(later, later)])
    pairs = agree.astype(np.float64)
    triangles = round(float((pairs @ pairs * pairs).sum()) / 6)
    return (triangles - other) / math.comb(count, 3)


def _relations(parents: Nodes, node: Nodes) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the relations of all pairs, 0 on two lineages, and the depths of their last common ancestors."""
    above = ancestor_matrix(parents)
    below = above[np.ix_(node, node)]
    ancestors = above[:, node].astype(np.float32)
    return (below + 2 * below.T).astype(np.int8), ancestors.T @ ancestors


def _parted_otherwise(one: NDArray[np.float32], two: NDArray[np.float32], related: NDArray[np.bool_]) -> int:
    """Return how many triples of the first of some mutations and two others part differently in two trees.

    Args:
        one, two: depths of the last common ancestors in the two trees: of the first mutation and the others.
        related: bool: pairs of the others that count.
    """
    differs = _order(one) != _order(two)
    return int(np.triu(differs & related, 1).sum())


def _order(depth: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return a number for the order in which the first of some mutations and two others part: int8."""
    first, pairs = depth[0, 1:, np.newaxis], depth[1:, 1:]
    return np.asarray(3 * np.sign(first - first.T) + np.sign(first - pairs), dtype=np.int8)
