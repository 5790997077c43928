"""A bound from above: no tree can be more likely than the best trees of groups of its mutations together.

What is left of a tree when mutations are taken out is a tree of the others, and every cell scores there as it
did. So a tree scores no more than the sum, over groups of its mutations, of each group's most likely tree,
which for a few mutations is found among all trees. Groups are chosen so that what their mutations cost each
other is large: pairs by a matching of the greatest weight, then pairs of pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.input.matrix import Matrix
from syclade.host.model.rates import Rates
from syclade.host.model.zygosity import scored_values
from syclade.host.trees.tree import ancestor_matrix
from syclade.quality.oracle.trees import all_trees

__all__ = ["MOST_MUTATIONS", "UpperBound", "upper_bound"]

MOST_MUTATIONS = 200
"""All pairs of pairs are looked at: some hundred million sums."""


@dataclass(frozen=True)
class UpperBound:
    """What no tree exceeds.

    Attributes:
        log_likelihood: natural log.
        free: the same if every entry could be what is likeliest: what a bound has to be better than.
        groups: sizes of the groups, largest first.
    """

    log_likelihood: float
    free: float
    groups: tuple[int, ...]


def upper_bound(matrix: Matrix, rates: Rates) -> UpperBound:
    """The bound by groups of up to four mutations.

    Args:
        matrix: at most MOST_MUTATIONS mutations.
        rates: the error rates.
    """
    table = rates.log_table()
    values = scored_values(matrix, rates)
    base = float(np.bincount(values.ravel(), minlength=4) @ table[:, 0])
    gains = rates.weights()[values]  # of having the mutation, (mutations, cells)
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
    """Groups in pairs, such that the pairs' costs are greatest; those that cost nothing stay alone."""
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
    """The best tree's gain, among all trees of these mutations; cells at their best nodes."""
    count = len(gains)
    if count == 1:
        return float(np.maximum(gains, 0.0).sum())
    worth = (_subsets(count) @ gains)[_trees(count)]  # (trees, nodes, cells)
    return float(worth.max(axis=1).sum(axis=1).max())


_KNOWN: dict[int, tuple[NDArray[np.float64], NDArray[np.intp]]] = {}


def _subsets(count: int) -> NDArray[np.float64]:
    """All sets of so many mutations, (2^count, count)."""
    return _known(count)[0]


def _trees(count: int) -> NDArray[np.intp]:
    """The sets of mutations that trees allow, each tree's nodes', (trees, count + 1); equal ones once."""
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
