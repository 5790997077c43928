"""Samples of cell trees in a result: their clades and their convergence diagnostics."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from syclade.host.common.atomic import Content
from syclade.host.diagnostics.trees import clade_ess, spread_of
from syclade.host.leaf.features import CladeFeatures
from syclade.host.leaf.lines import LeafLines
from syclade.host.samples.trust import Trust, judged

__all__ = ["LeafSampled", "judge_leaf", "majority_newick"]

COLUMNS = ("probability", "size", "cells")
"""Columns of clades.tsv: posterior probability, number of cells, their names separated by commas."""

LEAST = 0.05
"""Least posterior probability of clades in clades.tsv."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafSampled(Trust):
    """Samples of cell trees, with the probabilities of clades; for the diagnostics see `Trust`.

    Attributes:
        clades: posterior probability of each clade of more than one cell, by its cells.
        lines: score and tree of every sample, for the file.
    """

    clades: Mapping[frozenset[int], float]
    lines: LeafLines
    spread_name = "clade_spread"
    spread_of = "their clades"

    def to_table(self, cells: Sequence[str]) -> str:
        """Return a tab-separated table: a line with `COLUMNS`, then clades by falling probability."""
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        order = sorted(self.clades.items(), key=lambda one: (-one[1], len(one[0]), sorted(one[0])))
        for clade, share in order:
            if share >= LEAST:
                names = ",".join(cells[cell] for cell in sorted(clade))
                table.writerow((f"{share:.6g}", len(clade), names))
        return text.getvalue()

    def files(self, cells: Sequence[str]) -> dict[str, Content]:
        """Return the contents of the files, by name."""
        return {
            "tree.samples": self.lines.lines(),
            "clades.tsv": self.to_table(cells),
            "consensus.newick": majority_newick(self.clades, cells),
        }


def majority_newick(clades: Mapping[frozenset[int], float], cells: Sequence[str]) -> str:
    """Return the majority tree in Newick format: all clades in more than half of the samples.

    Each clade is labelled with its share in percent. Two such clades are always nested or disjoint, so they
    form a tree (Margush, McMorris 1981).
    """
    from syclade.host.trees.newick import quoted_label

    kept = sorted((clade for clade, share in clades.items() if share > 0.5), key=len)
    texts = {frozenset((cell,)): quoted_label(name) for cell, name in enumerate(cells)}
    for clade in kept:
        inside = [one for one in texts if one < clade]
        parts = [texts.pop(one) for one in sorted(inside, key=min)]
        texts[clade] = f"({','.join(parts)}){100 * clades[clade]:.0f}"
    parts = [texts[one] for one in sorted(texts, key=min)]
    return (parts[0] if len(parts) == 1 else f"({','.join(parts)})") + ";\n"


def judge_leaf(
    features: CladeFeatures, lines: LeafLines, every: int, burn_in: int, to_nats: Callable[[int], float]
) -> LeafSampled:
    """Return the samples with their clades and convergence diagnostics.

    Args:
        features: features of the samples.
        lines: lines of the samples.
        every, burn_in: see `LeafSampled`.
        to_nats: (integer score) -> log-likelihood.
    """
    return LeafSampled(
        every=every,
        burn_in=burn_in,
        **judged(features.scores(), features.trees(), clade_ess, to_nats),
        spread=spread_of(features.shares()),
        clades=features.clades(),
        lines=lines,
    )
