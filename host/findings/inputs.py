"""Findings on the input: warnings of the reader, what options left out, mutations of all cells, and agreement
with the true tree.

The reader warns of mutations that are seen in nearly all cells. Dropout hides others: a germline variant that
is lost in 15 % of the cells is seen in 85 %. The tree says which cells must have a mutation: those with
another one below it. A germline variant is seen as often in the other cells; a mutation of the trunk is not,
if some of them are normal. On 66 panels this named 14 variants that were seen in fewer than 95 % of the
cells: 12 that are frequent in the population, an intronic one, and one of a xenograft, which has no normal
human cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from syclade.host.data.input.checks import FILE, IN_NEARLY_ALL, left_out_table
from syclade.host.data.model.rates import MISSING
from syclade.host.data.model.reads import observed_states
from syclade.host.data.trees.distances import compare
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.finding import Finding, FindingKind, Question, Section, Table, no_files, sentence
from syclade.host.ground.options import LEAVES_OUT, flag_of, is_given
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import LeftOut
    from syclade.host.findings.finding import BestTree, Draft
    from syclade.host.ground.atomic import Content

__all__ = [
    "INPUT",
    "IN_ALL_CELLS",
    "LEFT_OUT",
    "TRUTH",
    "Common",
    "InAllCellsFinding",
    "LeftOutFinding",
    "TruthFinding",
    "common_mutations",
    "comparison_lines",
    "rate_text",
]

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

_FEWEST = 300
"""Fewest cells with a value: among fewer, there is often no normal cell that could tell."""

_FEWEST_BELOW = 20
"""Fewest cells with a mutation further down, of which dropout is counted."""

_LACK, _SURELY = 0.01, 0.02
"""Most cells that may lack the mutation, as a part: the estimate, and two standard errors above it."""


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


class Common(NamedTuple):
    """A mutation that no cell surely lacks.

    Attributes:
        name: its name.
        seen: part of the cells with a value in which it is seen.
        dropout: part of the cells that have it by a mutation further down in which it is not seen.
    """

    name: str
    seen: float
    dropout: float


@dataclass(frozen=True, eq=False, repr=False)
class InAllCellsFinding(Finding):
    """Mutations that are in all cells, of which the reader of the input did not warn."""

    name = "in_all_cells"
    found: tuple[Common, ...]

    def summary(self) -> JsonObject:
        """Return their names."""
        return {"in_all_cells": [one.name for one in self.found]}

    @property
    def warnings(self) -> list[str]:
        """Names, how often they are seen, and what they may be."""
        shares = listed([f"{one.name} {one.seen:.0%}, dropout {one.dropout:.0%}" for one in self.found])
        return [
            f"{counted(len(self.found), 'mutation is', 'mutations are')} in all cells if dropout is counted "
            f"({shares}): germline variants, which make no clones, or the first mutations of the tumour, if "
            "the sample has no normal cells; the data do not say which: leave germline variants out with "
            f"{flag_of('exclude_mutations')}"
        ]

    def section(self) -> Section:
        """Return the warning."""
        return Section("Mutations of all cells", (), None, tuple(map(sentence, self.warnings)))


def common_mutations(best: BestTree) -> list[Common]:
    """Return the mutations that no cell surely lacks, but for those of which the reader warns.

    Args:
        best: the most likely mutation tree, with the nodes of the cells.
    """
    values, node = observed_states(best.observed), best.assignment.node
    above = ancestor_matrix(best.parents)
    at_node = np.bincount(node, minlength=len(above))
    below_node = above[:-1] @ at_node - at_node[:-1]  # the others have too few cells below them
    found = []
    for row in np.flatnonzero(below_node >= _FEWEST_BELOW).tolist():
        known, seen = values[row] != MISSING, (values[row] == 1) | (values[row] == 2)
        below = known & above[row, node] & (node != row)
        cells, sure = int(known.sum()), int(below.sum())
        share = seen.sum() / max(1, cells)
        named = share >= IN_NEARLY_ALL or best.mutations[row] in best.observed.frequent
        if named or cells < _FEWEST or sure < _FEWEST_BELOW or not seen[below].any():
            continue
        rate, rest = seen[below].mean(), known & ~below
        others = seen[rest].mean() if rest.any() else rate
        part = 1.0 - sure / cells
        lack = part * max(0.0, 1.0 - others / rate)
        error = part * np.sqrt(others * (1.0 - others) / max(1, rest.sum())) / rate
        if lack <= _LACK and lack + 2.0 * error <= _SURELY:
            found.append(Common(best.mutations[row], float(share), float(1.0 - rate)))
    return found


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


def _in_all_cells(draft: Draft) -> InAllCellsFinding | None:
    best = draft.best
    if best.kind.item != "cell" or best.assignment.recurrence is not None:
        return None
    found = common_mutations(best)
    return InAllCellsFinding(tuple(found)) if found else None


def _truth(draft: Draft) -> TruthFinding | None:
    return None if draft.true_tree is None else TruthFinding(compare(draft.best.parents, draft.true_tree))


INPUT = FindingKind(InputFinding.name, _input, no_files)
LEFT_OUT = FindingKind(LeftOutFinding.name, _left_out, _names)
IN_ALL_CELLS = FindingKind(InAllCellsFinding.name, _in_all_cells, no_files)
TRUTH = FindingKind(TruthFinding.name, _truth, no_files)
