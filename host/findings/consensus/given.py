"""Consensus of given trees, such as the equally good trees of any program: by the search for that of
samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Pairs
from syclade.host.data.trees.named import CellTree, NamedTree, natural_order
from syclade.host.findings.consensus.clone_records import clone_records_of, clones_table
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_at
from syclade.host.findings.consensus.consensus import FILES
from syclade.host.findings.consensus.find_consensus import CANDIDATES
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.consensus.search import (
    THRESHOLDS,
    Thresholds,
    best_clone_tree,
    gain_of,
    gains_of,
)
from syclade.host.findings.consensus.tables import clone_newick, relations_table
from syclade.host.findings.samples.cell_trees import clades_table, majority_newick
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError, TreeError
from syclade.host.ground.values import JsonObject, counted, listed, short_repr

__all__ = ["CellTreeConsensus", "TreeConsensus", "consensus_of_cell_trees", "consensus_of_trees"]

UNITS = 2**20
"""Sum of the weights as whole numbers, if they are not equal: so sums are exact, and shares to six digits."""


def _left_out(names: Sequence[str], item: str) -> str:
    """Return the warning of mutations or cells that not all trees have."""
    one = len(names) == 1
    message = f"{counted(len(names), item, item + 's')} {'is' if one else 'are'} left out"
    return f"{message}, since not all trees have {'it' if one else 'them'}: {listed(names)}"


@dataclass(frozen=True, eq=False)
class TreeConsensus:
    """Consensus of given trees of mutations.

    Attributes:
        tree: the clone tree, of the mutations that all trees have.
        mutations: their names, in natural order.
        left_out: names of the mutations that some tree lacks, in natural order.
        trees: number of trees.
        relations: relations of all pairs of mutations in the trees, counted by weight.
        thresholds: the least shares of claims that pay.
        support: float64, shape (clones,): share of the trees, by weight, that have each clone with all below
            it.
    """

    tree: CloneTree
    mutations: tuple[str, ...]
    left_out: tuple[str, ...]
    trees: int
    relations: Relations
    thresholds: Thresholds
    support: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def gain(self) -> float:
        """Gain of the tree: the sum over its claims of share minus threshold."""
        return gain_of(self.tree, gains_of(self.relations, self.thresholds)) / (1000 * self.relations.samples)

    @property
    def words(self) -> str:
        """Line of text: numbers of trees, mutations and clones."""
        return (
            f"consensus of {counted(self.trees, 'tree', 'trees')}: "
            f"{counted(len(self.mutations), 'mutation', 'mutations')} in "
            f"{counted(self.tree.clones - 1, 'clone', 'clones')}"
        )

    @property
    def warnings(self) -> list[str]:
        """Message: mutations that are left out."""
        if not self.left_out:
            return []
        return [_left_out(self.left_out, "mutation")]

    def to_newick(self) -> str:
        """Return the clone tree in Newick format, with the support of its clones."""
        return clone_newick(self.tree, self.mutations, self.support)

    def to_clones(self) -> str:
        """Return the table of clones: tab-separated; columns of cells are empty."""
        records = clone_records_of(self.tree, self.mutations, self.support, self.relations)
        return clones_table(records, self.left_out)

    def to_relations(self) -> str:
        """Return the table of pairs of mutations: tab-separated; columns of cells are empty."""
        return relations_table(self.tree, self.relations, None, self.mutations, self.left_out)

    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name: those of `infer` but the table of cells."""
        return dict(zip(FILES, (self.to_newick(), self.to_clones(), self.to_relations()), strict=False))

    def to_dict(self) -> JsonObject:
        """Return the main numbers as plain values for JSON."""
        return {
            "trees": self.trees,
            "mutations": list(self.mutations),
            "left_out": list(self.left_out),
            "clones": self.tree.clones - 1,
            "clone_of": self.tree.clone_of.tolist(),
            "parents": self.tree.parents.tolist(),
            "support": self.support.tolist(),
            "thresholds": {"before": self.thresholds.before, "apart": self.thresholds.apart},
            "gain": self.gain,
        }


def consensus_of_trees(
    trees: Sequence[NamedTree], weights: Sequence[float] | None = None, thresholds: Thresholds = THRESHOLDS
) -> TreeConsensus:
    """Return the consensus of trees of mutations, on the mutations that all of them have.

    Args:
        trees: at least one tree.
        weights: weight of each tree; equal by default.
        thresholds: the least shares of claims that pay.

    Raises:
        OptionError: the weights do not fit the trees.
        TreeError: no mutation is in all trees.
    """
    whole = _whole_weights(len(trees), weights)
    trees = _rooted(trees)
    shared = sorted(set.intersection(*(set(tree.names) for tree in trees)), key=natural_order)
    if not shared:
        raise TreeError("no mutation is in all trees", hint="give trees of the same mutations")
    every = set().union(*(tree.names for tree in trees))
    total, n = sum(whole), len(shared)
    above, together = np.zeros((2, n, n), dtype=np.int64)
    clades: dict[bytes, int] = {}
    for tree, weight in zip(trees, whole, strict=True):
        pairs = Pairs(tree.parents, tree.at(shared))
        above += weight * pairs.before
        together += weight * pairs.same
        for clade in pairs.clades:
            clades[clade] = clades.get(clade, 0) + weight
    np.fill_diagonal(together, 0)
    relations = Relations(total, above, together=together)
    chosen = np.unique(np.arange(CANDIDATES) * len(trees) // CANDIDATES).tolist()
    starts = [clone_tree_at(trees[at].parents, trees[at].at(shared)) for at in chosen]
    found = best_clone_tree(starts, gains_of(relations, thresholds))
    below = np.packbits(found.within[:, found.clone_of], axis=1)
    support = [clades.get(row.tobytes(), 0) / total for row in below[1:]]
    return TreeConsensus(
        tree=found,
        mutations=tuple(shared),
        left_out=tuple(sorted(every - set(shared), key=natural_order)),
        trees=len(trees),
        relations=relations,
        thresholds=thresholds,
        support=np.array([1.0, *support]),
    )


def _rooted(trees: Sequence[NamedTree]) -> list[NamedTree]:
    """Return the trees with names at their roots as mutations where another tree has them below its root."""
    known: set[str] = set().union(*(tree.names for tree in trees))
    while True:
        trees = [tree.rooted(known) for tree in trees]
        more: set[str] = set().union(*(tree.names for tree in trees))
        if more == known:
            return list(trees)
        known = more


def _whole_weights(trees: int, weights: Sequence[float] | None) -> list[int]:
    """Return the weights as whole numbers: 1 each, or of the sum `UNITS`, if they are not equal."""
    if weights is None or len(set(weights)) == 1 == bool(weights[0] > 0):
        if weights is not None and len(weights) != trees:
            raise _wrong_number(len(weights), trees)
        return [1] * trees
    values = np.array(weights, dtype=np.float64)
    if len(values) != trees:
        raise _wrong_number(len(values), trees)
    if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
        raise OptionError("weights are numbers from 0, and not all 0")
    found: list[int] = np.rint(values / values.sum() * UNITS).astype(np.int64).tolist()
    return found


def _wrong_number(weights: int, trees: int) -> OptionError:
    message = f"{counted(weights, 'weight', 'weights')} for {counted(trees, 'tree', 'trees')}"
    return OptionError(message, hint="give one for each tree")


@dataclass(frozen=True, eq=False)
class CellTreeConsensus:
    """Majority tree of trees whose leaves are cells.

    Attributes:
        cells: names of the cells that all trees have, in natural order.
        left_out: names of the cells that some tree lacks, in natural order.
        trees: number of trees.
        clades: share of the trees, by weight, with each set of two or more cells, by the cells' numbers.
    """

    cells: tuple[str, ...]
    left_out: tuple[str, ...]
    trees: int
    clades: dict[frozenset[int], float]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def words(self) -> str:
        """Line of text: numbers of trees, cells and clades."""
        kept = sum(share > 0.5 for share in self.clades.values())
        return (
            f"consensus of {counted(self.trees, 'tree', 'trees')}: {len(self.cells)} cells, "
            f"{counted(kept, 'clade', 'clades')}"
        )

    @property
    def warnings(self) -> list[str]:
        """Message: cells that are left out."""
        if not self.left_out:
            return []
        return [_left_out(self.left_out, "cell")]

    def to_newick(self) -> str:
        """Return the tree of all clades in more than half of the trees, with their shares in per cent."""
        return majority_newick(self.clades, self.cells)

    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name: those of `infer` for cell trees."""
        return {"consensus.newick": self.to_newick(), "clades.tsv": clades_table(self.clades, self.cells)}

    def to_dict(self) -> JsonObject:
        """Return the main numbers as plain values for JSON."""
        kept: list[JsonObject] = [
            {"cells": [self.cells[cell] for cell in sorted(clade)], "share": share}
            for clade, share in self.clades.items()
            if share > 0.5
        ]
        return {
            "trees": self.trees,
            "cells": list(self.cells),
            "left_out": list(self.left_out),
            "clades": kept,
        }


def consensus_of_cell_trees(
    trees: Sequence[CellTree], weights: Sequence[float] | None = None
) -> CellTreeConsensus:
    """Return the majority tree of trees whose leaves are cells, on the cells that all of them have.

    Args:
        trees: at least one tree.
        weights: weight of each tree; equal by default.

    Raises:
        OptionError: the weights do not fit the trees.
        TreeError: fewer than two cells are in all trees.
    """
    whole = _whole_weights(len(trees), weights)
    shared = sorted(set.intersection(*(set(tree.cells) for tree in trees)), key=natural_order)
    if len(shared) < 2:
        raise TreeError("fewer than two cells are in all trees", hint="give trees of the same cells")
    counts: dict[frozenset[int], int] = {}
    for tree, weight in zip(trees, whole, strict=True):
        for row in tree.clades_of(shared):
            clade = frozenset(np.flatnonzero(row).tolist())
            counts[clade] = counts.get(clade, 0) + weight
    every = set().union(*(tree.cells for tree in trees))
    shares = {clade: count / sum(whole) for clade, count in counts.items()}
    return CellTreeConsensus(
        tuple(shared), tuple(sorted(every - set(shared), key=natural_order)), len(trees), shares
    )
