"""Evidence of an answer as a finding: its levels, the model of reads, and what contradicts the tree.

Each entry of a likelihood or of reads says how probable the state is that the tree gives it. A cell, or a
mutation, contradicts the tree if so improbable states have a small probability by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import FILE as DROPOUT_FILE
from syclade.host.data.model.levels import Levels, log_odds_of, misfit_bounds
from syclade.host.data.model.reads import ReadLikelihood
from syclade.host.data.model.recurrence import WithCopy
from syclade.host.findings.doublets import genotypes_of
from syclade.host.findings.finding import (
    CELLS,
    MUTATIONS,
    Column,
    Finding,
    FindingKind,
    Question,
    Section,
    cut,
    sentence,
)
from syclade.host.findings.weighed_matrix import Weighed
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of, is_given
from syclade.host.ground.options.types import SHARED_DROPOUT
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft
    from syclade.host.ground.atomic import Content


__all__ = ["COLUMNS", "EVIDENCE", "FILE", "EvidenceFinding"]

FILE = "evidence.tsv"

COLUMNS = ("item", "name", "entries", "against", "chance")
"""Columns of the file: cell or mutation, its name, its entries that say something, those of them that say the
opposite of the tree, and the bound on the probability of evidence so much against the tree, or more."""

DROPOUT_COLUMNS = ("mutation", "allelic_dropout")
"""Columns of dropout.tsv where reads have an allelic dropout for each mutation."""

CHANCE = 0.01
"""Probability that any cell, or any mutation, is listed although all evidence follows the model."""


@dataclass(frozen=True, eq=False, repr=False)
class Against:
    """Evidence of cells, or of mutations, against their states in the tree.

    Attributes:
        item: cell or mutation.
        names: names of all of them.
        entries, against: int64: entries that say something, and those that say the opposite of the tree.
        chance: float64: bounds of `misfit_bounds`.
    """

    item: str
    names: Sequence[str]
    entries: NDArray[np.int64]
    against: NDArray[np.int64]
    chance: NDArray[np.float64]

    @property
    def listed(self) -> list[int]:
        """Those whose evidence contradicts the tree, the least probable first."""
        found = np.flatnonzero(self.chance * len(self.chance) < CHANCE)
        return [int(one) for one in found[np.argsort(self.chance[found], kind="stable")]]

    @property
    def named(self) -> list[str]:
        """Their names."""
        return [self.names[one] for one in self.listed]

    def rows(self, some: Sequence[int]) -> list[tuple[str, ...]]:
        """Return the lines of some of them, with `COLUMNS`."""
        return [
            (
                self.item,
                self.names[one],
                str(self.entries[one]),
                str(self.against[one]),
                f"{self.chance[one]:.2g}",
            )
            for one in some
        ]


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceFinding(Finding):
    """Evidence that a run has in place of calls.

    Attributes:
        levels: levels of log odds.
        reads: parameters of the model of reads; None for likelihoods.
        estimated: names of those that were estimated.
        cells, mutations: evidence against the tree.
        stopped: whether a stop request has ended their estimate.
    """

    name = "evidence"
    levels: Levels
    reads: ReadLikelihood | None
    estimated: tuple[str, ...]
    cells: Against
    mutations: Against
    stopped: bool = False

    def files(self) -> dict[str, Content]:
        """Return the table of all cells and mutations, and dropout.tsv if allelic dropouts differ."""
        both = (self.cells, self.mutations)
        rows = (row for one in both for row in one.rows(range(len(one.names))))
        files: dict[str, Content] = {FILE: tsv_text(COLUMNS, rows)}
        if self.reads is not None and (own := self.reads.dropouts) is not None:
            dropouts = zip(self.mutations.names, (f"{one:.6g}" for one in own.tolist()), strict=False)
            files[DROPOUT_FILE] = tsv_text(DROPOUT_COLUMNS, dropouts)  # a copy has that of its mutation
        return files

    def summary(self) -> JsonObject:
        """Return levels, parameters, and names of cells and mutations that contradict the tree."""
        reads: JsonObject = {}
        if self.reads is not None:
            reads = {"reads": self.reads.to_dict(), "estimated": [*self.estimated]}
            reads |= {"estimate_stopped": True} if self.stopped else {}
        against = {f"contradicting_{one.item}s": one.named for one in (self.cells, self.mutations)}
        kind = "likelihoods" if self.reads is None else "reads"
        found: JsonObject = {"kind": kind, **self.levels.to_dict(), **reads, **against}
        return {"evidence": found}

    @property
    def lines(self) -> list[str]:
        """Parameters of reads."""
        return [] if self.reads is None else [self._parameters(self.reads)]

    def _parameters(self, reads: ReadLikelihood) -> str:
        """Return the parameters of reads as text."""
        shown = [flag_of(name, value) for name, value in reads.to_dict().items() if isinstance(value, float)]
        if (own := reads.dropouts) is not None:
            ends = f"from {own.min():.3g} to {own.max():.3g}"
            shown.append(f"{flag_of('allelic_dropout')} of each mutation {ends}, see {DROPOUT_FILE}")
        estimated = ", ".join(map(flag_of, self.estimated))
        return f"model of reads: {', '.join(shown)} ({f'estimated: {estimated}' if estimated else 'given'})"

    @property
    def warnings(self) -> list[str]:
        """An estimate that was stopped; cells and mutations whose evidence contradicts the tree."""
        found = []
        if self.stopped:
            flags = ", ".join(map(flag_of, self.estimated))
            found.append(f"the estimate of {flags} was stopped before its end: they are those until then")
        for one in (self.cells, self.mutations):
            if names := one.named:
                count = counted(len(names), one.item, f"{one.item}s")
                found.append(f"the evidence of {count} contradicts the tree: {listed(names)} ({FILE})")
        return found

    def section(self) -> Section:
        """Return levels, parameters, and the list of contradictions."""
        words = [sentence(self.levels.words)]
        words += [sentence(line) for line in self.lines]
        words.append(
            "An entry is against the tree if it is more probably mutated than not and the tree says that it "
            "is not, or the other way round. Listed are cells and mutations whose states are so improbable "
            f"that chance would list one in {CHANCE:.0%} of such matrices at most."
        )
        words.append("In pictures of the matrix, the paler an entry is, the less sure is its evidence.")
        rows = [row for one in (self.cells, self.mutations) for row in one.rows(one.listed)]
        table = cut(COLUMNS, rows) if rows else None
        return Section("Evidence", tuple(words), table, tuple(map(sentence, self.warnings)))

    def columns(self) -> list[Column]:
        """Return the bounds of all cells and mutations."""
        return [
            Column(CELLS, "evidence_chance", self.cells.chance),
            Column(MUTATIONS, "evidence_chance", self.mutations.chance),
        ]


def _against(
    item: str,
    names: Sequence[str],
    log_odds: NDArray[np.float64],
    has: NDArray[np.bool_],
    chance: NDArray[np.float64],
) -> Against:
    """Return the evidence of cells or mutations against the tree; axis 0 of the arrays is of mutations."""
    axis = 0 if item == "cell" else 1
    known, opposite = log_odds != 0, np.where(has, log_odds < 0, log_odds > 0)
    return Against(item, names, known.sum(axis=axis), opposite.sum(axis=axis), chance)


def _make(draft: Draft) -> EvidenceFinding | None:
    best = draft.best
    if not isinstance(best.rates, Levels):
        return None
    log_odds, has = log_odds_of(best.observed), genotypes_of(best.kind, best.tree)
    chances = misfit_bounds(log_odds, has)
    source: Matrix | None = best.observed.origin if isinstance(best.observed, WithCopy) else best.observed
    return EvidenceFinding(
        levels=best.rates,
        reads=source.reads if isinstance(source, Weighed) else None,
        estimated=source.estimated if isinstance(source, Weighed) else (),
        cells=_against("cell", best.cells, log_odds, has, chances.cells),
        # Of a copy, nothing is known.
        mutations=_against("mutation", best.mutations, log_odds, has, chances.mutations),
        stopped=isinstance(source, Weighed) and source.stopped,
    )


def _promises(question: Question) -> tuple[str, ...]:
    if not is_given(question.options, "evidence"):
        return ()
    return (FILE,) if question.options.dropout == SHARED_DROPOUT else (FILE, DROPOUT_FILE)


EVIDENCE = FindingKind(EvidenceFinding.name, _make, _promises)
