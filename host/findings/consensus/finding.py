"""Consensus of sampled trees as a finding: the tree to publish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.findings.finding import (
    RESULT,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.ground.atomic import Content

__all__ = ["CONSENSUS", "ConsensusFinding"]


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
        rows = [
            (
                str(clone),
                ", ".join(found.mutations[one] for one in found.tree.members[clone]),
                f"{found.support[clone]:.2f}",
                f"{found.prevalence[clone]:.1%}",
            )
            for clone in range(1, found.tree.clones)
        ]
        head = ("clone", "mutations", "share of the samples", "cells of the clone itself")
        words = tuple(map(sentence, found.words))
        warnings = tuple(map(sentence, found.warnings))
        return Section("Clones of the consensus", words, cut(head, rows), warnings)

    def columns(self) -> list[Column]:
        """Return the number of clones."""
        return [Column(RESULT, "clones", [self.consensus.tree.clones - 1])]


def _names(question: Question) -> Iterable[str]:
    return question.kind.consensus_names if question.samples_trees else ()


CONSENSUS = made_by_stage(ConsensusFinding, _names)
