"""Doublets of a tree's cells, as a finding; genotypes of cells that may be doublets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.finding import (
    CELLS,
    Column,
    Finding,
    FindingKind,
    Section,
    cut,
    no_files,
    sentence,
)
from syclade.host.ground.values import JsonObject, counted

if TYPE_CHECKING:
    from syclade.host.data.model.doublets import Doublets as Calls
    from syclade.host.findings.finding import Draft
    from syclade.host.findings.kinds import Tree, TreeKind

__all__ = ["DOUBLETS", "LIKELY", "DoubletsFinding", "genotypes_of"]

LIKELY = 0.5
"""Probability above which a cell is called a doublet."""

_FEWEST_SEEN = 0.5
"""Expected number of doublets of two branches below which none is seen."""


@dataclass(frozen=True, eq=False, repr=False)
class DoubletsFinding(Finding):
    """Cells that may be two of the tree's clones together.

    Attributes:
        calls: probability of each cell of being one, and its likeliest pair of nodes.
        cells: names of the cells.
        labels: labels of the nodes.
        origin: "given" or "learned".
    """

    name = "doublets"
    calls: Calls
    cells: tuple[str, ...]
    labels: list[str]
    origin: str

    def summary(self) -> JsonObject:
        """Return rate, expected number and calls."""
        return {"doublets": self.calls.to_dict()}

    @property
    def likely(self) -> NDArray[np.int64]:
        """int64: cells that are more likely a doublet than not, the likeliest first."""
        found = np.flatnonzero(self.calls.probability > LIKELY)
        return found[np.argsort(-self.calls.probability[found], kind="stable")]

    @property
    def lines(self) -> list[str]:
        """Expected and likely doublets."""
        likely = counted(len(self.likely), "cell", "cells")
        return [f"{self.calls.expected:.1f} doublets expected, {likely} more likely one than not"]

    @property
    def warnings(self) -> list[str]:
        """Number of doublets that follows from their rate alone, as hardly any could be seen in this tree."""
        if self.calls.expected < 1.0 or self.calls.relevant_rate * len(self.cells) >= _FEWEST_SEEN:
            return []
        return [
            f"hardly any of the {self.calls.expected:.1f} expected doublets would be of two branches of the "
            "tree, and others cannot be seen: their number follows from their rate, not from the cells"
        ]

    def section(self) -> Section:
        """Return rate, expected number, and the likely doublets."""
        calls = self.calls
        rows = [
            (
                self.cells[cell],
                f"{calls.probability[cell]:.3f}",
                self.labels[calls.first[cell]],
                self.labels[calls.second[cell]],
            )
            for cell in self.likely.tolist()
        ]
        words = (
            f"Rate of doublets: {calls.rate:.4g} ({self.origin}). {calls.expected:.1f} of {len(self.cells)} "
            f"cells are expected to be doublets; {len(rows)} are more likely one than not.",
            "A doublet of two cells of one lineage cannot be seen: its mutations are those of the cell with "
            f"more of them. Doublets of two branches are {calls.relevant_rate:.2%} of the cells.",
        )
        table = cut(("cell", "P(doublet)", "first node", "second node"), rows)
        return Section("Doublets", words, table, tuple(map(sentence, self.warnings)))

    def columns(self) -> list[Column]:
        """Return the probability of being a doublet, and the nodes of the likeliest pair."""
        pairs = (("doublet_first", self.calls.first), ("doublet_second", self.calls.second))
        return [
            Column(CELLS, "doublet", self.calls.probability),
            *(
                Column(CELLS, name, [self.labels[node] for node in nodes], self.labels)
                for name, nodes in pairs
            ),
        ]


def genotypes_of(kind: TreeKind, tree: Tree) -> NDArray[np.bool_]:
    """Return the mutations of each cell: bool, shape (n, cells); of a likely doublet, those of both nodes."""
    calls = tree.assignment.doublets
    if calls is None:
        return kind.genotypes(tree)
    first, second = (
        kind.genotypes(replace(tree, assignment=replace(tree.assignment, node=node)))
        for node in (calls.first, calls.second)
    )
    return np.where(calls.probability > LIKELY, first | second, kind.genotypes(tree))


def _make(draft: Draft) -> DoubletsFinding | None:
    best = draft.best
    if best.assignment.doublets is None:
        return None
    origin = "learned" if "doublets" in (best.learned or {}) else "given"
    return DoubletsFinding(best.assignment.doublets, best.cells, best.labels, origin)


DOUBLETS = FindingKind(DoubletsFinding.name, _make, no_files)
