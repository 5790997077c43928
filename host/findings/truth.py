"""Comparison with the true tree as a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.host.data.trees.distances import compare
from syclade.host.findings.finding import Finding, FindingKind, Section, Table, no_files
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft

__all__ = ["TRUTH", "TruthFinding", "comparison_lines"]

_KINDS = {
    "parents": "parent of",
    "ancestors": "ancestor of",
    "lineages": "in different lineages",
    "clones": "in the same clone",
    "clades": "clades",
    "splits": "splits",
    "triplets": "triplets",
}

_IF_ANY = ("clones",)
"""Kinds without a line where neither tree has any: mutation trees have one mutation in each clone."""


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
            (name, f"{kind['precision']:.4f}", f"{kind['recall']:.4f}")
            for name, kind in self.comparison.items()
            if isinstance(kind, dict) and (name not in _IF_ANY or kind["found"] or kind["true"])
        ]
        return Section("Beside the true tree", (), Table(("pairs", "precision", "recall"), rows))


def comparison_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Return a comparison (`distances.compare`, or `to_dict` of a comparison by names) as lines of text."""
    lines = []
    for name, words in _KINDS.items():
        kind = comparison.get(name)
        if kind is not None and (name not in _IF_ANY or kind["found"] or kind["true"]):
            lines.append(
                f"{words:22} precision {kind['precision']:.4f}  recall {kind['recall']:.4f}  "
                f"distance {kind['distance']}  F1 {kind['f1']:.4f}"
            )
    if "caset" in comparison:
        lines.append(f"CASet {comparison['caset']:.4f}  DISC {comparison['disc']:.4f}")
    if "mltd" in comparison:
        lines.append(f"MLTD {comparison['mltd']}  MLTD similarity {comparison['mltd_similarity']:.4f}")
    if "mp3_similarity" in comparison:
        lines.append(f"MP3 similarity {comparison['mp3_similarity']:.4f}")
    return lines


def _make(draft: Draft) -> TruthFinding | None:
    return None if draft.true_tree is None else TruthFinding(compare(draft.best.parents, draft.true_tree))


TRUTH = FindingKind(TruthFinding.name, _make, no_files)
