"""Consensus of sampled trees as a finding: the tree to publish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.findings.finding import (
    CELLS,
    RESULT,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.ground.values import Json, JsonObject

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.ground.atomic import Content

__all__ = ["CONSENSUS", "ConsensusFinding"]


SUPPORT_WORDS = (
    "Support is the share of the sampled trees in which some clone has exactly these mutations at it and "
    "below it: not how sure it is which of them came first."
)


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusFinding(Finding):
    """Clone tree that sums up the sampled trees, with its cells."""

    name = "consensus"
    consensus: CloneConsensus

    def files(self) -> dict[str, Content]:
        """Return the tree, and the tables of clones, pairs of mutations and cells."""
        return self.consensus.files()

    def summary(self) -> JsonObject:
        """Return clones, misfits, and claims that something contradicts."""
        return {"consensus": self.consensus.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Numbers of clones and of cells that fit nowhere, and agreement with the true tree."""
        return self.consensus.words

    @property
    def warnings(self) -> list[str]:
        """Claims that are kept back, or that the cells or the most likely tree contradict."""
        return self.consensus.warnings

    def section(self) -> Section:
        """Return the clones with their support and prevalence."""
        found = self.consensus
        normal = ", ".join(found.mutations[one] for one in found.tree.members[0]) or "none: the root"
        rows = [("0", normal, "", f"{found.prevalence[0]:.1%}")]
        rows += [
            (
                str(clone),
                _mutations_of(found, clone),
                f"{found.support[clone]:.2f}",
                f"{found.prevalence[clone]:.1%}{' (of a union)' if found.open_mutations[clone] else ''}",
            )
            for clone in range(1, found.tree.clones)
        ]
        head = ("clone", "mutations", "support", "cells of the clone itself")
        words = (*map(sentence, found.words), SUPPORT_WORDS)
        warnings = tuple(map(sentence, found.warnings))
        return Section("Clones of the consensus", words, cut(head, rows), warnings)

    def columns(self) -> list[Column]:
        """Return the number of clones; and of each cell its clone, the runner-up, and whether it fits."""
        found = self.consensus
        cells = found.cells
        numbers = [str(clone) for clone in range(found.tree.clones)]
        placed = (
            ("clone", [numbers[clone] for clone in cells.best.tolist()], numbers),
            ("clone_probability", cells.probability.max(axis=0).tolist(), None),
            ("runner_up", [numbers[clone] for clone in cells.runner_up.tolist()], numbers),
            ("runner_up_probability", cells.runner_up_probability.tolist(), None),
            ("fits", ["yes" if fits else "no" for fits in cells.fits.tolist()], ("no", "yes")),
        )
        columns = [
            Column(CELLS, name, self._of_all(values), categories) for name, values, categories in placed
        ]
        return [Column(RESULT, "clones", [found.tree.clones - 1]), *columns]

    def _of_all(self, values: Sequence[Json]) -> list[Json]:
        """Return values of all cells, None for unplaced ones, of those of placed cells."""
        found: list[Json] = [None] * self.consensus.matrix.n_cells
        for cell, value in zip(self.consensus.placed_cells.tolist(), values, strict=True):
            found[cell] = value
        return found


def _mutations_of(found: CloneConsensus, clone: int) -> str:
    """Return the mutations of a clone; if a claim on them is kept back, how many cells have each."""
    members = found.tree.members[clone]
    if not found.open_mutations[clone]:
        return ", ".join(found.mutations[one] for one in members)
    return f"open, not all in each cell: {', '.join(found.seen_words(members))} of the cells with a value"


def _names(question: Question) -> Iterable[str]:
    return question.kind.consensus_names if question.samples_trees else ()


CONSENSUS = made_by_stage(ConsensusFinding, _names)
