"""Distances between two trees, such as an inferred tree and the simulated one.

Trees of mutations: a node has any number of mutations, and the trees may have different ones: those that
both have are compared. The root is not a mutation, so it counts only as a parent and, as in trees whose root
has a label, as a common ancestor of all. Relations are computed as matrices of pairs, in O(n^3) by matrix
products.

Sources: ancestor-descendant, different-lineage and same-clone measures as in B-SCITE (Malikic, Jahn, Kuipers,
Sahinalp, Beerenwinkel, Nature Communications 10:2750, 2019); CASet and DISC: DiNardo, Tomlinson, Ritz,
Oesper, "Distance measures for tumor evolutionary trees", Bioinformatics 36(7), 2020, in the form for trees of
different mutations that takes the shared ones (scphylo-tools 0.1.1 gives 1 - CASet and 1 - DISC); clades:
Robinson, Foulds, "Comparison of phylogenetic trees", Mathematical Biosciences 53, 1981, for rooted trees with
labels at all nodes. `multi_label` has MLTD and MP3.

Trees whose leaves are cells: the clades, the splits of the unrooted trees, and the triplets that two share.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.multi_label import multi_label_distance
from syclade.host.data.trees.named import contracted
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.values import JsonObject

__all__ = [
    "Agreement", "Distances", "Pairs", "caset", "compare", "disc", "distances_between", "number_or_none",
    "shared_splits", "shared_triplets", "tree_distances",
]  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """Number of claims, such as pairs of mutations with some relation, that two trees share.

    Attributes:
        shared: claims of both trees.
        found: claims of the tree that is compared.
        true: claims of the true tree.
    """

    shared: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Shared claims divided by those found; 1 if none was found."""
        return self.shared / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Shared claims divided by the true ones; 1 if there is none."""
        return self.shared / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 if neither tree claims anything."""
        return 2 * self.shared / (self.found + self.true) if self.found + self.true else 1.0

    @property
    def distance(self) -> int:
        """Number of claims of only one of the trees."""
        return self.found + self.true - 2 * self.shared

    @property
    def rates(self) -> dict[str, float | None]:
        """Precision, recall and F1 by name; None where there is no claim that they are a share of."""
        among = {"precision": self.found, "recall": self.true, "f1": self.found + self.true}
        return {name: getattr(self, name) if of else None for name, of in among.items()}

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        return {**asdict(self), **self.rates, "distance": self.distance}


@dataclass(frozen=True)
class Distances:
    """Comparison of a tree with the true one.

    Attributes:
        parents: pairs of mutations (one of the parent clone, one of the clone), the root among the parents.
        ancestors: ordered pairs (ancestor, descendant) of mutations in different clones.
        lineages: unordered pairs of mutations in which neither is an ancestor of the other.
        clones: unordered pairs of mutations in the same clone.
        clades: sets of the mutations at and below a node; their `distance` is that of Robinson and Foulds.
        caset: mean Jaccard distance of the common ancestors of a pair of mutations, 0 to 1; NaN without
            pairs.
        disc: mean Jaccard distance of the ancestors that only the first mutation of a pair has, 0 to 1; NaN
            without pairs.
    """

    parents: Agreement
    ancestors: Agreement
    lineages: Agreement
    clones: Agreement
    clades: Agreement
    caset: float
    disc: float

    @property
    def agreements(self) -> dict[str, Agreement]:
        """The counts by name."""
        names = ("parents", "ancestors", "lineages", "clones", "clades")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        counts: JsonObject = {name: kind.to_dict() for name, kind in self.agreements.items()}
        return counts | {"caset": number_or_none(self.caset), "disc": number_or_none(self.disc)}


def number_or_none(value: float) -> float | None:
    """Return a number for JSON; None for one that is not defined, which is NaN."""
    return None if math.isnan(value) else value


class Pairs:
    """Relations of pairs of mutations in a tree: bool, shape (n, n).

    Attributes:
        before: whether the row's clone is above the column's.
        same: whether both are in one clone; true on the diagonal.
    """

    def __init__(self, parents: NDArray[np.int32], node: NDArray[np.int32]) -> None:
        """Take the parents of the nodes, the root last, and the node of each mutation."""
        self._parents, self._node = parents, node
        above = ancestor_matrix(parents)[np.ix_(node, node)]  # itself and its clone are included
        self.same: NDArray[np.bool_] = above & above.T
        self.before: NDArray[np.bool_] = above & ~self.same

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Pairs on different lineages."""
        return np.asarray(~(self.before | self.before.T | self.same))

    @cached_property
    def ancestors(self) -> NDArray[np.float32]:
        """float32: 1 where the column's mutation is in the row's clone or above it, else 0."""
        return (self.before.T | self.same).astype(np.float32)

    @cached_property
    def common(self) -> NDArray[np.float32]:
        """float32: number of common ancestors of two mutations, of which a mutation itself is one."""
        return np.asarray(self.ancestors @ self.ancestors.T)

    @cached_property
    def parents(self) -> NDArray[np.bool_]:
        """bool, shape (n + 1, n): whether the row's mutation is in the parent clone of the column's.

        The last row is the root. Nodes without mutations are passed over.
        """
        parents, node = contracted(self._parents, self._node)
        return np.asarray(np.append(node, len(parents) - 1)[:, None] == parents[node])

    @cached_property
    def clades(self) -> frozenset[bytes]:
        """Sets of the mutations at and below the clone of each mutation, each as bits."""
        below = np.packbits(self.ancestors.T.astype(np.bool_), axis=1)
        return frozenset(row.tobytes() for row in below)


def distances_between(found: Pairs, true: Pairs) -> Distances:
    """Compare the relations of the same mutations, in the same order, in two trees."""
    shared = len(found.clades & true.clades)
    return Distances(
        parents=_agreement(found.parents, true.parents),
        ancestors=_agreement(found.before, true.before),
        lineages=_agreement(np.triu(found.apart), np.triu(true.apart)),
        clones=_agreement(np.triu(found.same, 1), np.triu(true.same, 1)),
        clades=Agreement(shared, len(found.clades), len(true.clades)),
        caset=_caset(found, true),
        disc=_disc(found, true),
    )


def _agreement(found: NDArray[np.bool_], true: NDArray[np.bool_]) -> Agreement:
    return Agreement(int((found & true).sum()), int(found.sum()), int(true.sum()))


def _caset(one: Pairs, two: Pairs) -> float:
    both = one.ancestors * two.ancestors
    shared = both @ both.T + np.float32(1.0)  # the root
    return _mean(_jaccard(shared, one.common + two.common + 2 - shared)[np.triu_indices(len(both), 1)])


def _disc(one: Pairs, two: Pairs) -> float:
    first, second = one.ancestors, two.ancestors
    shared = (first * second) @ (1 - np.maximum(first, second)).T
    sizes = [pairs.common.diagonal()[:, None] - pairs.common for pairs in (one, two)]
    return _mean(_jaccard(shared, sizes[0] + sizes[1] - shared)[~np.eye(len(first), dtype=np.bool_)])


def _jaccard(shared: NDArray[np.float32], union: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the distances of sets from the sizes of their intersections and unions; 0 for two empty sets."""
    return np.where(union == 0, 0.0, 1.0 - shared.astype(np.float64) / np.maximum(union, 1.0))


def _mean(chosen: NDArray[np.float64]) -> float:
    return float(chosen.mean()) if chosen.size else math.nan


def _pairs_of(parents: NDArray[np.int32]) -> Pairs:
    return Pairs(parents, np.arange(len(parents) - 1, dtype=np.int32))


def tree_distances(parents: NDArray[np.int32], true: NDArray[np.int32]) -> Distances:
    """Compare a mutation tree with the true one.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, with the same mutations in the same order.
    """
    return distances_between(_pairs_of(parents), _pairs_of(true))


def caset(parents: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mean, over pairs of mutations, of the Jaccard distance of their common ancestors.

    A mutation is its own ancestor, and the root is an ancestor of all, as in trees whose root has a label.
    """
    return _caset(_pairs_of(parents), _pairs_of(other))


def disc(parents: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mean, over ordered pairs of mutations, of the Jaccard distance of their distinct ancestors.

    Distinct ancestors are those of the first mutation that are not ancestors of the second. A mutation is its
    own ancestor.
    """
    return _disc(_pairs_of(parents), _pairs_of(other))


def compare(parents: NDArray[np.int32], true: NDArray[np.int32]) -> JsonObject:
    """Return the distances of a mutation tree from the true one, with MLTD, as plain values.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, int32, shape (n + 1,).
    """
    node = np.arange(len(parents) - 1, dtype=np.int32)
    mltd = multi_label_distance(parents, node, true, node)
    return tree_distances(parents, true).to_dict() | mltd.to_dict()


def shared_splits(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> tuple[Agreement, Agreement]:
    """Return the agreement of the clades of two trees, and that of the splits of the unrooted trees.

    Args:
        one, two: `CellTree.clades_of` the same cells.
    """
    return (
        _of_sets(*(_sets(clades[clades.sum(axis=1) < clades.shape[1]]) for clades in (one, two))),
        _of_sets(*(_sets(_splits(clades)) for clades in (one, two))),
    )


def _splits(clades: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the sides without the first cell of splits with two or more cells on either side."""
    sides: NDArray[np.bool_] = clades ^ clades[:, :1]
    sizes = sides.sum(axis=1)
    return np.asarray(sides[(sizes > 1) & (sizes < clades.shape[1] - 1)])


def _sets(rows: NDArray[np.bool_]) -> set[bytes]:
    return {row.tobytes() for row in np.packbits(rows, axis=1)}


def _of_sets(found: set[bytes], true: set[bytes]) -> Agreement:
    return Agreement(len(found & true), len(found), len(true))


def shared_triplets(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> Agreement:
    """Return the agreement on triples of cells of which two part last.

    Two cells a and b part at u in one tree and at v in the other. Both trees claim ab|c of each c that is
    neither below u nor below v; their number is m - |u| - |v| + |u and v|. The number of pairs that part at u
    and at v follows from those below u and v by inclusion and exclusion of their children.

    Args:
        one, two: `CellTree.clades_of` the same cells.
    """
    cells = one.shape[1]
    sizes = [clades.sum(axis=1, dtype=np.float64) for clades in (one, two)]
    inner = one.astype(np.float32) @ two.astype(np.float32).T
    outside = cells - sizes[0][:, None] - sizes[1] + inner
    pairs = _parted(_parted(_choose(inner.astype(np.float64)), one), two, axis=1)
    claims = [
        round(float((_parted(_choose(size)[:, None], clades)[:, 0] * (cells - size)).sum()))
        for clades, size in zip((one, two), sizes, strict=True)
    ]
    return Agreement(round(float((pairs * outside).sum())), *claims)


def _choose(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * (counts - 1.0) / 2.0


def _parted(below: NDArray[np.float64], clades: NDArray[np.bool_], axis: int = 0) -> NDArray[np.float64]:
    """Return sums over the pairs that part at each node, from sums over the pairs below it.

    Args:
        below: float64, with the nodes along the axis.
        clades: bool, shape (nodes, cells): the sets below the nodes, smaller ones first.
        axis: the axis of the nodes.
    """
    upper = _upper(clades)
    children = np.flatnonzero(upper >= 0)
    found = np.moveaxis(below.copy(), axis, 0)
    np.subtract.at(found, upper[children], np.moveaxis(below, axis, 0)[children])
    return np.moveaxis(found, 0, axis)


def _upper(clades: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the smallest set that has each set, -1 for the last: int64, shape (sets,)."""
    upper = np.full(len(clades), -1, dtype=np.int64)
    latest = np.full(clades.shape[1], -1, dtype=np.int64)  # largest set so far with each cell
    for number, row in enumerate(clades):
        inside = latest[row]
        upper[inside[inside >= 0]] = number
        latest[row] = number
    return upper
