"""Co-optimal trees as a finding, and their files: each tree in both formats, and their consensus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import node_labels
from syclade.host.findings.cooptimal.consensus import consensus_of
from syclade.host.findings.cooptimal.plateau import CoOptimal
from syclade.host.findings.finding import Finding, FindingKind, Question, Section, cut

if TYPE_CHECKING:
    from syclade.host.findings.cooptimal.plateau import CoOptimal
    from syclade.host.findings.draft import Draft
    from syclade.host.ground.atomic import Content

__all__ = ["CO_OPTIMAL", "CoOptimalFinding", "files_of"]


@dataclass(frozen=True, eq=False, repr=False)
class CoOptimalFinding(Finding):
    """Trees that are as likely as the best one.

    Attributes:
        found: these trees.
        mutations: names of the mutations.
    """

    name = "co_optimal"
    found: CoOptimal
    mutations: tuple[str, ...]

    def files(self) -> dict[str, Content]:
        """Return each tree in both formats, and what they share."""
        from syclade.host.findings.cooptimal.finding import files_of

        return {**files_of(self.found, self.mutations)}

    def summary(self) -> dict[str, Any]:
        """Return their number, and whether these are all."""
        return {"co_optimal": {"trees": len(self.found.trees), "complete": self.found.complete}}

    @property
    def lines(self) -> list[str]:
        """Their number."""
        return [f"{self.found.counted} trees have this log-likelihood"]

    def section(self) -> Section:
        """Return the edges that are not in all of them."""
        words = f"{self.found.counted} trees have this log-likelihood; co_optimal.tsv has what they share."
        if len(self.found.trees) == 1:
            return Section("Trees that are as likely", (words,))
        shares, labels = consensus_of(self.found.trees).edges, node_labels(self.mutations)
        unsure = [(upper, lower) for upper, lower in np.argwhere((shares > 0) & (shares < 1)).tolist()]
        unsure.sort(key=lambda edge: (-shares[edge], edge))
        rows = [(labels[upper], labels[lower], f"{shares[upper, lower]:.0%}") for upper, lower in unsure]
        same = int((shares == 1).sum())
        more = f"{same} of {len(self.mutations)} edges are in all of them; the others, by their shares:"
        return Section("Trees that are as likely", (words, more), cut(("parent", "child", "share"), rows))


def _make(draft: Draft) -> CoOptimalFinding | None:
    return None if draft.co_optimal is None else CoOptimalFinding(draft.co_optimal, draft.best.mutations)


def _names(question: Question) -> Iterable[str]:
    if question.options.max_trees is None:
        return ()
    return ("tree_0.newick", "tree_0.gv", "co_optimal.tsv", "co_optimal.gv")


CO_OPTIMAL = FindingKind(CoOptimalFinding.name, _make, _names)


def files_of(found: CoOptimal, mutations: Sequence[str]) -> dict[str, str]:
    """Return the texts of the files, by file name.

    Args:
        found: the co-optimal trees.
        mutations: the n names.
    """
    files = {}
    for number, tree in enumerate(found.trees):
        files[f"tree_{number}.newick"] = to_newick(tree, mutations)
        files[f"tree_{number}.gv"] = to_graphviz(tree, mutations)
    shared = consensus_of(found.trees)
    files["co_optimal.tsv"] = shared.to_table(mutations)
    files["co_optimal.gv"] = shared.to_graphviz(mutations)
    return files
