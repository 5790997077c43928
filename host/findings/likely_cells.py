"""Cells on the most likely tree, as a finding, where no trees were sampled: cells.tsv without a consensus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.findings.consensus.cells import CloneCells, cells_on
from syclade.host.findings.consensus.clone_tree import clone_tree_of
from syclade.host.findings.consensus.prevalence import Mixture
from syclade.host.findings.consensus.tables import cells_table
from syclade.host.findings.finding import Finding, Question, made_by_stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syclade.host.findings.consensus.clone_tree import CloneTree
    from syclade.host.findings.finding import BestTree
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = ["LIKELY_CELLS", "LikelyCells"]

FILE = "cells.tsv"


class EvenCells(CloneCells):
    """Cells on clones that have equal shares of them."""

    @cached_property
    def mixture(self) -> Mixture:
        """The likelihoods themselves; there are no intervals."""
        none = np.full(len(self.likelihood), np.nan)
        return Mixture(self.likelihood, none, none)


@dataclass(frozen=True, eq=False, repr=False)
class LikelyCells(Finding):
    """Cells on the most likely tree, whose clones are its nodes.

    Attributes:
        best: the most likely tree, of mutations that occur once.
        unplaced: mutations and cells that are left out.
        labels: labels of all cells, by their names.
    """

    name = "likely_cells"
    best: BestTree
    unplaced: Unplaced
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def tree(self) -> CloneTree:
        """The most likely tree, with one mutation in each clone."""
        return clone_tree_of(self.unplaced.of_tree(self.best.parents))

    @cached_property
    def cells(self) -> CloneCells:
        """The placed cells: the shares of the nodes are equal, unless there are doublets.

        Drawing shares would take longer than a search, so this is what is known without it.
        """
        best, doublets = self.best, self.best.assignment.doublets
        rate = None if doublets is None else doublets.rate
        found = cells_on(self.tree, self.unplaced.of_matrix(best.observed), best.rates, doublets=rate)
        return found if rate is not None else EvenCells(found.likelihood, found.tail)

    def files(self) -> dict[str, Content]:
        """Return the table of cells."""
        names, unplaced = self.best.cells, tuple(self.unplaced.cells)
        mutations = self.unplaced.of_matrix(self.best.observed).mutations
        node_of = ["root", *(mutations[own] for (own,) in self.tree.members[1:])]
        placed = iter(self.cells.best.tolist())
        nodes = ["" if cell in unplaced else node_of[next(placed)] for cell in range(len(names))]
        return {FILE: cells_table(self.cells, names, unplaced, {"node": nodes, **self.labels})}


def _names(question: Question) -> Iterable[str]:
    sampled = question.samples_trees or question.options.recurrent is not None
    return () if sampled or not question.kind.consensus_names else (FILE,)


LIKELY_CELLS = made_by_stage(LikelyCells, _names)
