"""Inputs as findings: warnings of the reader, what options left out, and agreement with the true tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.host.data.input.checks import FILE, left_out_table
from syclade.host.data.trees.distances import compare
from syclade.host.findings.finding import Finding, FindingKind, Question, Section, Table, no_files, sentence
from syclade.host.ground.options import LEAVES_OUT, is_given
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import LeftOut
    from syclade.host.findings.finding import Draft
    from syclade.host.ground.atomic import Content

__all__ = ["INPUT", "LEFT_OUT", "TRUTH", "LeftOutFinding", "TruthFinding", "comparison_lines", "rate_text"]

_KINDS = {
    "parents": "parent of",
    "ancestors": "ancestor of",
    "lineages": "in different lineages",
    "clones": "in the same clone",
    "clades": "clades",
    "splits": "splits",
    "triplets": "triplets",
}

NOT_DEFINED = "not defined"
"""Text of a share of claims where there are none, and of a mean over no pairs."""

_IF_ANY = ("clones",)
"""Kinds without a line where neither tree has any: mutation trees have one mutation in each clone."""


@dataclass(frozen=True, eq=False, repr=False)
class InputFinding(Finding):
    """Warnings of the reader of the input, which were logged when it was read."""

    name = "input"
    logged: tuple[str, ...]

    def summary(self) -> JsonObject:
        """Return the warnings."""
        return {"input_warnings": list(self.logged)}

    @property
    def warnings(self) -> list[str]:
        """The warnings of the reader."""
        return list(self.logged)

    def section(self) -> Section:
        """Return the warnings."""
        return Section("Input", (), None, tuple(map(sentence, self.logged)))


@dataclass(frozen=True, eq=False, repr=False)
class LeftOutFinding(Finding):
    """Mutations and cells of the input that options leave out."""

    name = "left_out"
    items: Sequence[LeftOut]

    def files(self) -> dict[str, Content]:
        """Return left_out.tsv."""
        return {FILE: left_out_table(self.items)}

    def summary(self) -> JsonObject:
        """Return the numbers of mutations and cells."""
        kinds = [one.kind for one in self.items]
        return {"left_out": {"mutations": kinds.count("mutation"), "cells": kinds.count("cell")}}


@dataclass(frozen=True, eq=False, repr=False)
class TruthFinding(Finding):
    """Agreement of the most likely tree with the true one (`distances.compare`)."""

    name = "true_tree"
    comparison: Mapping[str, Any]

    def summary(self) -> JsonObject:
        """Return the comparison."""
        return {"true_tree": dict(self.comparison)}

    @property
    def lines(self) -> list[str]:
        """Precision, recall and distances."""
        return comparison_lines(self.comparison)

    def section(self) -> Section:
        """Return precision and recall."""
        rows = [
            (name, rate_text(kind["precision"]), rate_text(kind["recall"]))
            for name, kind in self.comparison.items()
            if isinstance(kind, dict) and (name not in _IF_ANY or kind["found"] or kind["true"])
        ]
        return Section("Beside the true tree", (), Table(("pairs", "precision", "recall"), rows))


def comparison_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Return a comparison (`distances.compare`, or `to_dict` of a comparison by names) as lines of text."""
    lines = []
    for name, words in _KINDS.items():
        kind = comparison.get(name)
        if kind is None or not (kind["found"] or kind["true"]):
            if kind is not None and name not in _IF_ANY:
                lines.append(f"{words:22} none in either tree")
            continue
        rates = {rate: rate_text(kind[rate]) for rate in ("precision", "recall", "f1")}
        lines.append(
            f"{words:22} precision {rates['precision']}  recall {rates['recall']}  "
            f"distance {kind['distance']}  F1 {rates['f1']}"
        )
    if "caset" in comparison:
        lines.append(f"CASet {rate_text(comparison['caset'])}  DISC {rate_text(comparison['disc'])}")
    if "mltd" in comparison:
        lines.append(f"MLTD {comparison['mltd']}  MLTD similarity {comparison['mltd_similarity']:.4f}")
    if "mp3_similarity" in comparison:
        lines.append(f"MP3 similarity {rate_text(comparison['mp3_similarity'])}")
    return lines


def rate_text(value: float | None) -> str:
    """Return a share of claims as text: `not defined` where there are none."""
    return NOT_DEFINED if value is None else f"{value:.4f}"


def _input(draft: Draft) -> InputFinding | None:
    logged = draft.best.observed.warnings
    return InputFinding(logged) if logged else None


def _left_out(draft: Draft) -> LeftOutFinding | None:
    items = draft.best.observed.left_out
    return LeftOutFinding(items) if items else None


def _names(question: Question) -> Iterable[str]:
    return (FILE,) if any(is_given(question.options, name) for name in LEAVES_OUT) else ()


def _truth(draft: Draft) -> TruthFinding | None:
    return None if draft.true_tree is None else TruthFinding(compare(draft.best.parents, draft.true_tree))


INPUT = FindingKind(InputFinding.name, _input, no_files)
LEFT_OUT = FindingKind(LeftOutFinding.name, _left_out, _names)
TRUTH = FindingKind(TruthFinding.name, _truth, no_files)
