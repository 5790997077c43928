"""Trees as figures show them: clones with their names, cells and support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.clones import Clone

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["SAMPLED", "DrawnClone", "DrawnTree", "likely_tree", "support_of"]

SAMPLED = "the sampled trees"
"""Trees that shares of the consensus and of support are of."""


@dataclass(frozen=True)
class DrawnClone:
    """A clone of a drawn tree.

    Attributes:
        number: its number in the files, 0 for the root; None for the most likely tree beside a consensus,
            whose clones have other numbers.
        parent: index of its parent; the root is its own parent.
        depth: number of edges from the root.
        mutations: names of its mutations.
        cells: number of its own cells; of a consensus, the expected one; NaN for a tree without cells.
        share: part of the cells, or of the tissue, that is of the clone itself.
        low, high: ends of the 90 % interval of the share; None if there is none.
        support: share of the sampled trees that have it; None where there is none.
    """

    number: int | None
    parent: int
    depth: int
    mutations: tuple[str, ...]
    cells: float
    share: float
    low: float | None = None
    high: float | None = None
    support: float | None = None


@dataclass(frozen=True, eq=False)
class DrawnTree:
    """A tree as figures show it.

    Attributes:
        clones: the clones, in preorder; the first is the root.
        cells: index of the clone of each cell; -1 for an unplaced cell.
        second: for each cell that is likely a doublet, the index of the other clone; else -1.
        order: the cells in the order of the tree.
        unplaced: names of the unplaced mutations.
        published: whether it is the consensus.
        of: description of the trees that the support is of; empty without support.
        has: bool, shape (n, cells): the mutations of each cell, in the order of the matrix; None where they
            follow from the clones.
        called: what the tree is, for figures; empty for the consensus, or the most likely tree.
    """

    clones: tuple[DrawnClone, ...]
    cells: NDArray[np.int64]
    second: NDArray[np.int64]
    order: NDArray[np.int64]
    unplaced: tuple[str, ...] = ()
    published: bool = False
    of: str = ""
    has: NDArray[np.bool_] | None = None
    called: str = ""

    @property
    def name(self) -> str:
        """Name of the tree, as the beginning of a sentence."""
        own = "Consensus of the sampled trees" if self.published else "Most likely tree"
        return self.called or own

    @property
    def has_cells(self) -> bool:
        """Return whether cells of the clones are known."""
        return not any(math.isnan(clone.cells) for clone in self.clones)

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """bool, shape (clones, clones): whether the column's clone is the row's, or below it."""
        found = np.eye(len(self.clones), dtype=np.bool_)
        for index in range(1, len(self.clones)):
            found[:, index] |= found[:, self.clones[index].parent]
        return found

    def genotypes(self, mutations: Sequence[str]) -> NDArray[np.bool_]:
        """Return the mutations of each cell: bool, shape (mutations, cells); none of an unplaced one.

        Args:
            mutations: names of the rows, in the order of the matrix.
        """
        if self.has is not None:
            return self.has
        clone_of = {name: at for at, clone in enumerate(self.clones) for name in clone.mutations}
        rows = np.array([clone_of.get(name, -1) for name in mutations], dtype=np.int64)
        has = np.zeros((len(mutations), len(self.cells)), dtype=np.bool_)
        for cells in (self.cells, self.second):
            here = np.flatnonzero(cells >= 0)
            has[:, here] |= self.within[rows][:, cells[here]]
        has[rows < 0] = False
        return has


def likely_tree(
    clones: Sequence[Clone],
    mutations: Sequence[str],
    genotypes: NDArray[np.bool_],
    order: NDArray[np.int64],
    shares: Sequence[float | None] | None,
    of: str,
    *,
    numbered: bool,
) -> DrawnTree:
    """Return the most likely tree as figures show it.

    Args:
        clones: its clones.
        mutations: names of the mutations.
        genotypes: bool, shape (n, cells): the mutations of each cell.
        order: the cells in the order of the tree.
        shares: for each clone, the share of trees that have it; None where it is not known.
        of: description of these trees.
        numbered: whether its clones have numbers; not beside a consensus, which has others.
    """
    everyone = max(clones[0].below, 1)
    drawn = tuple(
        DrawnClone(
            at if numbered else None, clone.parent, clone.depth,
            tuple(mutations[one] for one in clone.mutations),
            float(clone.cells), clone.cells / everyone, support=None if shares is None else shares[at],
        )
        for at, clone in enumerate(clones)
    )  # fmt: skip
    deepest = np.zeros(genotypes.shape[1], dtype=np.int64)
    for at, clone in enumerate(clones):
        if clone.mutations:
            deepest[genotypes[list(clone.mutations)].all(axis=0)] = at
    return DrawnTree(drawn, deepest, np.full(len(deepest), -1), order, of=of, has=genotypes)


def support_of(result: Result, clones: list[Clone]) -> tuple[list[float | None] | None, str]:
    """Return for each clone the share of sampled or co-optimal trees that have it: the first finding's.

    Args:
        result: the result of an inference.
        clones: clones of its tree.

    Returns:
        The shares, with None for the root, and a description of the trees. Without samples and without
        further co-optimal trees, None and "".
    """
    for finding in result.findings:
        found = finding.clone_shares(result.parents, clones, result.unplaced)
        if found is not None:
            return found
    return None, ""
