"""Relations of pairs of mutations in trees: one before the other, or on different lineages; edges, too.

Of some pairs no cell tells anything, since they were called in different cells: specimens with different
panels have such pairs. Samples of trees prefer a relation for them nevertheless, since the share of each
clone is that of all specimens together; that is no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.graphviz import quoted
from syclade.host.data.trees.tree import ancestor_matrix, node_labels
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.findings.consensus.evidence import PairCounts
    from syclade.host.findings.consensus.search import Thresholds

__all__ = [
    "Consensus",
    "Relations",
    "TreeBlocks",
    "consensus_of",
    "consequences",
    "count_above",
    "count_relations",
    "count_unseparated",
    "follow_from_others",
    "unobserved_in",
]

TreeBlocks: TypeAlias = Callable[[], Iterable[NDArray[np.int32]]]
"""Function that yields all sampled trees in blocks, int32, shape (trees, n + 1), each time it is called."""

_HALF_A_CELL = 0.5
"""Cells by which an order is shown. Branches of three mutations without cells between them (24 inputs of
400 x 24): 8 clones in the median where 8 are true, with a quarter or a half, 11 with none (docs/trust.md)."""

_FEWEST_TREES, _MOST_TREES, _MOST_PAIRS = 64, 1024, 2**26
"""Trees with shares in which cells between mutations are counted; and most pairs in all of them together."""

_TOGETHER = 256
"""Number of trees that are climbed at once."""


class SharedTrees(NamedTuple):
    """Samples of trees with shares.

    Attributes:
        trees: int32, shape (samples, n + 1).
        shares: float64, of the same shape: part of the cells at each node.
    """

    trees: NDArray[np.int32]
    shares: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def spaced(self, most: int) -> SharedTrees:
        """Return at most this many of them, evenly spaced."""
        used = min(len(self.trees), most)
        chosen = np.arange(used) * len(self.trees) // used
        return SharedTrees(self.trees[chosen], self.shares[chosen])


@dataclass(frozen=True, eq=False)
class Relations:
    """How often each mutation was before another in sampled trees.

    Attributes:
        samples: number of trees.
        above: int64, shape (n, n): number of trees in which the row's mutation is a proper ancestor of the
            column's.
        unseparated: int64, shape (n, n): number of these trees in which fewer than half a cell is expected
            to have the row's mutation, but not the column's; None if it is not known.
        together: int64, shape (n, n): number of trees in which two mutations are in one clone; None if each
            is in a clone of its own.
    """

    samples: int
    above: NDArray[np.int64]
    unseparated: NDArray[np.int64] | None = None
    together: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def separated(self) -> NDArray[np.int64]:
        """int64, shape (n, n): number of trees in which the row's mutation is above the column's by cells."""
        return self.above if self.unseparated is None else self.above - self.unseparated

    @property
    def before(self) -> NDArray[np.float64]:
        """float64, shape (n, n): share of trees in which the row's mutation is before the column's."""
        return np.asarray(self.above / self.samples)

    @property
    def apart(self) -> NDArray[np.float64]:
        """float64, shape (n, n): share of trees with the two on different lineages; 0 on the diagonal."""
        return np.asarray(self.apart_counts / self.samples)

    @property
    def apart_counts(self) -> NDArray[np.int64]:
        """int64, shape (n, n): number of trees with the two on different lineages; 0 on the diagonal."""
        counts = self.samples - self.above - self.above.T
        if self.together is not None:
            counts -= self.together
        np.fill_diagonal(counts, 0)
        return counts


@dataclass(frozen=True, eq=False)
class Consensus:
    """Shares of trees that have an edge or an ancestor relation.

    Attributes:
        trees: number of trees.
        edges: float64, shape (n + 1, n): share of trees in which the row's node is the column's parent.
        ancestors: float64, shape (n, n): share of trees in which the row's mutation is a proper ancestor of
            the column's.
    """

    trees: int
    edges: NDArray[np.float64]
    ancestors: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def of_edges(self, parents: NDArray[np.int32], nodes: Sequence[int]) -> list[float]:
        """Return the share of trees that have the edge to each of some nodes of a tree.

        Args:
            parents: int32, shape (n + 1,): the tree.
            nodes: mutations.
        """
        return [float(self.edges[parents[node], node]) for node in nodes]

    def to_table(self, mutations: Sequence[str]) -> str:
        """Return a tab-separated table with the columns relation, upper, lower and share.

        Edges come first, then ancestor relations; both are sorted by falling share.

        Args:
            mutations: the n names.
        """
        labels = node_labels(mutations)
        rows = []
        for relation, shares in (("parent", self.edges), ("ancestor", self.ancestors)):
            places = np.argwhere(shares > 0)
            order = np.argsort(-shares[tuple(places.T)], kind="stable")
            for upper, lower in places[order].tolist():
                rows.append((relation, labels[upper], labels[lower], f"{shares[upper, lower]:.6g}"))
        return tsv_text(("relation", "upper", "lower", "share"), rows)

    def to_graphviz(self, mutations: Sequence[str], least: float = 0.0) -> str:
        """Return a digraph of all edges with a share above `least`; rarer edges are lighter."""
        labels = node_labels(mutations)
        lines = ["digraph consensus {\n    node [shape=box, style=rounded];\n"]
        for upper, lower in np.argwhere(self.edges > least).tolist():
            share = float(self.edges[upper, lower])
            shade = f"gray{round(80 * (1 - share))}"
            ends = f"{quoted(labels[upper])} -> {quoted(labels[lower])}"
            lines.append(f'    {ends} [label="{share:.0%}", color={shade}];\n')
        return "".join(lines) + "}\n"


def consensus_of(trees: NDArray[np.int32]) -> Consensus:
    """Compute the shares of trees that have each edge and each ancestor relation.

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
    """
    count, n = len(trees), trees.shape[1] - 1
    edges, above = np.zeros((n + 1, n)), np.zeros((n, n))
    mutations = np.arange(n)
    for tree in trees:
        edges[tree[:n], mutations] += 1
        above += ancestor_matrix(tree)[:n, :n]
    np.fill_diagonal(above, 0)
    return Consensus(count, edges / count, above / count)


def count_relations(blocks: TreeBlocks) -> Relations:
    """Count the relations of all pairs of mutations in sampled trees.

    Raises:
        ValueError: there is no tree.
    """
    samples, above = 0, np.zeros((0, 0), dtype=np.int64)
    for trees in blocks():
        if not samples:
            above = np.zeros((trees.shape[1] - 1,) * 2, dtype=np.int64)
        samples += len(trees)
        count_above(trees, above)
    if not samples:
        raise ValueError("relations need at least one sampled tree")
    return Relations(samples, above)


def count_unseparated(
    trees: NDArray[np.int32], shares: NDArray[np.float64], cells: int, above: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return in how many trees one mutation is above another without cells that show it.

    Nothing tells the order of two mutations on a branch without cells between them, yet errors favour one. An
    order is shown by cells that have one mutation and not the other.

    Args:
        trees: int32, shape (samples, n + 1): trees with shares, of which some are used, evenly spaced.
        shares: float64, of the same shape: part of the cells at each node.
        cells: number of cells.
        above: int64, shape (n, n): number of trees of a larger sample in which the row's mutation is above
            the column's.

    Returns:
        int64, shape (n, n): of `above`, in the same proportion as in the trees with shares.
    """
    n = trees.shape[1] - 1
    most = max(_FEWEST_TREES, min(_MOST_TREES, _MOST_PAIRS // n**2))
    counts, few = np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64)
    for one in np.unique(np.linspace(0, len(trees) - 1, min(most, len(trees)), dtype=np.int64)).tolist():
        ancestors = ancestor_matrix(trees[one])[:n, :n]
        expected = cells * (ancestors @ shares[one, :n])
        np.fill_diagonal(ancestors, False)
        counts += ancestors
        few += ancestors & (expected[:, None] - expected < _HALF_A_CELL)
    return np.asarray((2 * above * few + counts) // np.maximum(2 * counts, 1))


def count_above(trees: NDArray[np.int32], above: NDArray[np.int64]) -> None:
    """Count each ancestor relation in trees; many trees are climbed together, node by node.

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
        above: int64, shape (n, n): counts to add to; the row's mutation is above the column's.
    """
    n = trees.shape[1] - 1
    for first in range(0, len(trees), _TOGETHER):
        some = np.ascontiguousarray(trees[first : first + _TOGETHER])
        start, lower = (at.ravel() for at in np.indices((len(some), n)))
        start, flat, upper = start * (n + 1), some.ravel(), some[:, :n].ravel()
        waiting: list[NDArray[np.int64]] = []
        while True:
            inner = np.flatnonzero(upper < n)
            start, lower, upper = start[inner], lower[inner], upper[inner]
            waiting.append(upper * np.int64(n) + lower)
            if not upper.size or sum(map(len, waiting)) > 2 * n * n:  # few passes through the counts
                above += np.bincount(np.concatenate(waiting), minlength=n * n).reshape(n, n)
                waiting.clear()
            if not upper.size:
                break
            upper = flat[start + upper]


_CALLED_TOGETHER = 0.5
"""Part of the cells with values of both that would be expected if missing values did not depend on each
other, from which two mutations were called together."""


def unobserved_in(
    relations: Relations, counts: PairCounts, cells: int, thresholds: Thresholds
) -> NDArray[np.bool_] | None:
    """Return the pairs without an observation of them, or a consequence of others; None if there are none.

    A pair is observed if a cell has values of both and one of them, or if about as many cells have values of
    both as where missing values are random: a relation of rare mutations is then open by chance alone. A
    relation is a consequence of others if, for example, the first mutation is before a third one, and that
    before the second. Mutations without a claimed order say nothing of each other's relations: the first may
    be above the second, or below it.

    Args:
        relations: relations of the mutations in the samples.
        counts: of the same mutations.
        cells: number of cells.
        thresholds: the least probabilities of relations that count.

    Returns:
        bool, shape (n, n), symmetric.
    """
    seen = counts.both + counts.only + counts.only.T
    together = seen + counts.neither
    called = together.diagonal()
    observed = (seen > 0) | (together * cells >= _CALLED_TOGETHER * np.outer(called, called))
    if observed.all():
        return None
    before, apart = relations.before > thresholds.before, relations.apart > thresholds.apart
    before, apart = consequences(before & observed, apart & observed)
    found = ~(observed | before | before.T | apart)
    np.fill_diagonal(found, False)
    return found if found.any() else None


def consequences(
    before: NDArray[np.bool_], apart: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return all relations that follow from some, and these: (before, apart).

    Args:
        before: bool, shape (n, n): whether the row's mutation is before the column's.
        apart: bool, shape (n, n), symmetric: whether they are on different lineages.
    """

    def joined(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray(one.astype(np.float32) @ two.astype(np.float32) > 0.5)

    before, apart, count = before.copy(), apart.copy(), -1
    while count != (count := int(before.sum() + apart.sum())):
        before |= joined(before, before)
        # what is below one of two lineages is not on the other
        below = joined(apart, before)
        apart |= below | below.T
    return before, apart


def follow_from_others(
    before: NDArray[np.bool_],
    apart: NDArray[np.bool_],
    together: NDArray[np.bool_],
    has: NDArray[np.bool_],
    lacks: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which genotypes follow from those of other mutations of the same cell: bool, shape (n, cells).

    A cell has what is before, or together with, a mutation that it has. It lacks what is below, or together
    with, a mutation that it lacks, and what is apart from one that it has.

    Args:
        before: bool, shape (n, n): whether the row's mutation is before the column's.
        apart, together: bool, shape (n, n), symmetric: whether they are on different lineages, or in one
            clone whose cells have both or neither.
        has, lacks: bool, shape (n, cells): sure genotypes.
    """
    of = has.astype(np.float32), lacks.astype(np.float32)
    by_presence = (before | together | apart).astype(np.float32) @ of[0]
    by_absence = (before.T | together).astype(np.float32) @ of[1]
    return np.asarray(by_presence + by_absence > 0.5)
