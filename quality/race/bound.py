"""Upper bound: no tree can be more likely than the best trees of groups of its mutations together.

Removing mutations from a tree leaves a tree of the other mutations, in which every cell scores as before on
these. So a tree scores at most the sum, over groups of its mutations, of the score of each group's most
likely tree. For a few mutations, that tree is found by enumeration. Groups are chosen so that the conflicts
within them are costly: pairs by a maximum-weight matching, then pairs of pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.oracle.trees import all_trees

__all__ = ["MOST_MUTATIONS", "UpperBound", "upper_bound"]

MOST_MUTATIONS = 200
"""Largest number of mutations: all pairs of pairs are evaluated, some hundred million sums."""


@dataclass(frozen=True)
class UpperBound:
    """Upper bound on the log-likelihood of all trees.

    Attributes:
        log_likelihood: the bound, natural log.
        free: the trivial bound, if every entry could have its likeliest value.
        groups: sizes of the groups, largest first.
    """

    log_likelihood: float
    free: float
    groups: tuple[int, ...]


def upper_bound(matrix: Matrix, rates: Rates) -> UpperBound:
    """Return the bound from groups of up to four mutations.

    Args:
        matrix: the observed values, at most MOST_MUTATIONS mutations.
        rates: the error rates.
    """
    table = rates.log_table()
    values = scored_values(matrix, rates)
    base = float(np.bincount(values.ravel(), minlength=4) @ table[:, 0])
    gains = rates.weights()[values]  # gain of having the mutation, (mutations, cells)
    alone = np.maximum(gains, 0.0).sum(axis=1)
    singles = [(gene,) for gene in range(len(gains))]
    pairs = _matched(singles, gains, alone)
    groups = _matched(pairs, gains, alone)
    best = sum(_best(gains[list(group)]) for group in groups)
    sizes = sorted((len(group) for group in groups), reverse=True)
    return UpperBound(base + best, base + float(alone.sum()), tuple(sizes))


def _matched(
    groups: Sequence[tuple[int, ...]], gains: NDArray[np.float64], alone: NDArray[np.float64]
) -> list[tuple[int, ...]]:
    """Pair the groups so that the total cost of the pairs is largest; groups without cost stay alone."""
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    own = [float(alone[list(group)].sum()) - _best(gains[list(group)]) for group in groups]
    for one, other in itertools.combinations(range(len(groups)), 2):
        both = [*groups[one], *groups[other]]
        cost = float(alone[both].sum()) - _best(gains[both]) - own[one] - own[other]
        if cost > 1e-9:
            graph.add_edge(one, other, weight=cost)
    matching = networkx.max_weight_matching(graph)
    taken = {number for edge in matching for number in edge}
    together = [(*groups[one], *groups[other]) for one, other in matching]
    return together + [group for number, group in enumerate(groups) if number not in taken]


def _best(gains: NDArray[np.float64]) -> float:
    """Return the gain of the best among all trees of these mutations, with cells at their best nodes."""
    count = len(gains)
    if count == 1:
        return float(np.maximum(gains, 0.0).sum())
    worth = (_subsets(count) @ gains)[_trees(count)]  # (trees, nodes, cells)
    return float(worth.max(axis=1).sum(axis=1).max())


_KNOWN: dict[int, tuple[NDArray[np.float64], NDArray[np.intp]]] = {}


def _subsets(count: int) -> NDArray[np.float64]:
    """Return all subsets of `count` mutations: float64, shape (2^count, count)."""
    return _known(count)[0]


def _trees(count: int) -> NDArray[np.intp]:
    """Return the subsets (rows of `_subsets`) at the nodes of each tree: intp, shape (trees, count + 1).

    Trees with equal subsets are listed once.
    """
    return _known(count)[1]


def _known(count: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    if count not in _KNOWN:
        bits = 1 << np.arange(count)
        sets = ((np.arange(2**count)[:, None] & bits) != 0).astype(np.float64)
        _KNOWN[count] = sets, np.array(sorted(set(_allowed(count, bits))), dtype=np.intp)
    return _KNOWN[count]


def _allowed(count: int, bits: NDArray[np.int_]) -> Iterator[tuple[int, ...]]:
    for tree in all_trees(count):
        above = ancestor_matrix(np.array(tree, dtype=np.int32))[:count]
        yield tuple(sorted(int(bits[above[:, node]].sum()) for node in range(count + 1)))
