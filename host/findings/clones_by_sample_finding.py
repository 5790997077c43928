"""Clones by sample as a finding: its files, lines, section of the report and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syclade.host.findings.clones_by_sample import FILES, ClonesBySample
from syclade.host.findings.finding import (
    CELLS,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.findings.joint_shares import group_name, number_text
from syclade.host.ground.options import is_given
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.ground.atomic import Content

__all__ = ["CLONES_BY_SAMPLE", "ClonesBySampleFinding"]

NOT_IDENTIFIABLE = "not identifiable"
"""Text of the report in place of numbers that follow from the prior."""


@dataclass(frozen=True, eq=False, repr=False)
class ClonesBySampleFinding(Finding):
    """Shares of clones in specimens."""

    name = "clones_by_sample"
    found: ClonesBySample
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels of all cells that the matrix does not have itself."""

    def files(self) -> dict[str, Content]:
        """Return the tables of shares, and of changes if there are any."""
        texts = (self.found.to_table(), self.found.to_changes())
        return dict(zip(FILES, texts if self.found.changes else texts[:1], strict=False))

    def summary(self) -> JsonObject:
        """Return specimens, shares and changes."""
        return {"clones_by_sample": self.found.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Numbers of cells, and the clones that change."""
        return self.found.words

    @property
    def warnings(self) -> list[str]:
        """Mutations that a specimen did not measure."""
        return self.found.warnings

    def section(self) -> Section:
        """Return the share of each clone in each specimen, and how probable it is that it grew."""
        found, changes = self.found, self.found.shown_changes
        rows = [
            (
                str(clone),
                ", ".join(names),
                *(self._shown(at, clone) for at in range(len(found.samples))),
                *(
                    number_text(float(one.own.grew[clone])) if one.identifiable[clone] else NOT_IDENTIFIABLE
                    for one in changes
                ),
            )
            for clone, names in enumerate(found.mutations)
        ]
        for group, shares in found.groups.items():
            grew_of = [dict(zip(one.groups, one.together.grew.tolist(), strict=True)) for one in changes]
            rows.append(
                (
                    group_name(group),
                    "together",
                    *(_per_cent(*one[1:]) for one in shares),
                    *(number_text(of[group]) if group in of else "" for of in grew_of),
                )
            )
        grew = (f"probability that it grew, {one.first} to {one.second}" for one in changes)
        head = ("clone", "mutations", *found.samples, *grew)
        words = (
            *map(sentence, found.words),
            "Numbers are shares of the tissue in per cent, with the central 90 % of what the cells and the "
            "sampled trees leave open.",
        )
        warnings = tuple(map(sentence, found.warnings))
        return Section("Clones by sample", words, cut(head, rows), warnings)

    def columns(self) -> list[Column]:
        """Return the labels of the cells."""
        return [
            Column(CELLS, name, [text or None for text in texts], sorted({*texts} - {""}))
            for name, texts in self.labels.items()
        ]

    def _shown(self, sample: int, clone: int) -> str:
        """Return a share with its interval, in per cent."""
        found = self.found
        share, low, high = (of[sample, clone] for of in (found.share, found.low, found.high))
        if not found.identifiable[sample, clone]:
            return f"{NOT_IDENTIFIABLE} ({100 * low:.1f} to {100 * high:.1f})"
        return f"{100 * share:.1f}" if clone in found.unions else _per_cent(share, low, high)


def _per_cent(share: float, low: float, high: float) -> str:
    """Return a share with its interval as text, in per cent."""
    return f"{100 * share:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _names(question: Question) -> Iterable[str]:
    options = ("metadata", "sample_column", "time_column")
    return FILES if any(is_given(question.options, name) for name in options) else ()


CLONES_BY_SAMPLE = made_by_stage(ClonesBySampleFinding, _names)
