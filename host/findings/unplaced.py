"""Unplaced mutations and cells, and those that options leave out, as findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.host.data.input.left_out import FILE, left_out_table
from syclade.host.findings.finding import Finding, FindingKind, Question, Section, cut, no_files
from syclade.host.ground.options import LEAVES_OUT, is_given

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import LeftOut
    from syclade.host.findings.consensus.unplaced import Unplaced
    from syclade.host.findings.draft import Draft
    from syclade.host.ground.atomic import Content

__all__ = ["LEFT_OUT", "UNPLACED", "LeftOutFinding", "UnplacedFinding"]


@dataclass(frozen=True, eq=False, repr=False)
class UnplacedFinding(Finding):
    """Mutations and cells whose place is unknown.

    Attributes:
        unplaced: these mutations and cells, by number.
        mutations, cells: names of all, in the order of the matrix.
    """

    name = "unplaced"
    unplaced: Unplaced
    mutations: tuple[str, ...]
    cells: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Return the names by their reasons; also if there are none."""
        return {"unplaced": self.unplaced.to_dict(self.mutations, self.cells)}

    def section(self) -> Section | None:
        """Return the reasons, and the probability of the best place of uncertain mutations."""
        if not self.unplaced:
            return None
        silent, uncertain = self.unplaced.silent, self.unplaced.uncertain
        warnings = []
        if silent:
            warnings.append(f"{silent.words(self.mutations, self.cells)}: they say nothing of the tree.")
        if uncertain:
            warnings.append(
                f"{uncertain.words(self.mutations, self.cells)}: the sampled trees have them in many places."
            )
        rows = [
            (self.mutations[row], f"{share:.2g}")
            for row, share in sorted(uncertain.best_place.items(), key=lambda one: one[1])
        ]
        table = cut(("mutation", "probability of its best place"), rows) if rows else None
        more = "Their places in the tree are arbitrary; support and consensus leave them out."
        return Section("Unplaced", (more,), table, tuple(warnings))


@dataclass(frozen=True, eq=False, repr=False)
class LeftOutFinding(Finding):
    """Mutations and cells of the input that options leave out."""

    name = "left_out"
    items: Sequence[LeftOut]

    def files(self) -> dict[str, Content]:
        """Return left_out.tsv."""
        return {FILE: left_out_table(self.items)}

    def summary(self) -> dict[str, Any]:
        """Return the numbers of mutations and cells."""
        kinds = [one.kind for one in self.items]
        return {"left_out": {"mutations": kinds.count("mutation"), "cells": kinds.count("cell")}}


def _unplaced(draft: Draft) -> UnplacedFinding:
    return UnplacedFinding(draft.unplaced, draft.best.mutations, draft.best.cells)


def _left_out(draft: Draft) -> LeftOutFinding | None:
    items = draft.best.observed.left_out
    return LeftOutFinding(items) if items else None


def _names(question: Question) -> Iterable[str]:
    return (FILE,) if any(is_given(question.options, name) for name in LEAVES_OUT) else ()


UNPLACED = FindingKind(UnplacedFinding.name, _unplaced, no_files)
LEFT_OUT = FindingKind(LeftOutFinding.name, _left_out, _names)
