"""What samples of cell-leaf trees say, and how far they may be trusted: a value of a result."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.atomic import Content
from syclade.host.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.diagnostics.trees import changes, clade_ess, spread_of
from syclade.host.leaf.features import CladeFeatures
from syclade.host.leaf.lines import LeafLines
from syclade.host.samples.sampled import ESS, FEWEST_CHANGES, RHAT, SPREAD

__all__ = ["LeafSampled", "judge_leaf", "majority_newick"]

COLUMNS = ("probability", "size", "cells")
"""Of clades.tsv: posterior probability, number of cells, their names with commas between them."""

LEAST = 0.05
"""Clades that are rarer are left out of clades.tsv."""


@dataclass(frozen=True, eq=False)
class LeafSampled:
    """See the module.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of a chain before its first.
        log_likelihoods: float64, shape (chains, samples).
        clades: posterior probability of each clade of more than one cell, by its cells.
        ess, rhat: of the log-likelihood.
        tree_ess: Fréchet effective size of trees, by the clades they share; summed over the chains.
        still: chains whose tree changed fewer than `FEWEST_CHANGES` times among the samples that were kept.
        spread: mean standard deviation over chains of the frequencies of clades (ASDSF).
        lines: score and tree of every sample, for the file.
    """

    every: int
    burn_in: int
    log_likelihoods: NDArray[np.float64]
    clades: Mapping[frozenset[int], float]
    ess: float
    rhat: float
    tree_ess: float
    still: int
    spread: float
    lines: LeafLines

    @property
    def warnings(self) -> list[str]:
        """In plain words, why these samples may not be trusted."""
        found = []
        if self.still:
            found.append(
                f"in {self.still} of {len(self.log_likelihoods)} chains the tree changed fewer than "
                f"{FEWEST_CHANGES} times: they may be stuck, whatever the effective sizes say"
            )
        if not self.ess >= ESS:
            found.append(
                f"the samples are worth {self.ess:.0f} independent ones (log-likelihood): run longer"
            )
        if not self.tree_ess >= ESS / 4:
            found.append(f"their trees are worth {self.tree_ess:.0f} independent ones: run longer")
        if not self.rhat <= RHAT:
            found.append(f"R-hat of the log-likelihood is {self.rhat:.3f}: the chains have not mixed")
        if self.spread > SPREAD:
            found.append(f"chains differ in their clades by {self.spread:.3f} on the mean: run longer")
        return found

    def told(self) -> dict[str, Any]:
        """As plain values, for summary.json; what cannot be said is null."""
        numbers = {
            "ess": self.ess, "rhat": self.rhat, "tree_ess": self.tree_ess, "clade_spread": self.spread
        }  # fmt: skip
        return {
            "every": self.every,
            "burn_in": self.burn_in,
            "chains": self.log_likelihoods.shape[0],
            "samples": int(self.log_likelihoods.size),
            **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
            "still_chains": self.still,
            "warnings": self.warnings,
        }

    def to_table(self, cells: Sequence[str]) -> str:
        """Tab-separated: a line with `COLUMNS`, then clades by falling probability."""
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
        """The texts of the files, by name."""
        return {
            "tree.samples": self.lines.lines(),
            "clades.tsv": self.to_table(cells),
            "consensus.newick": majority_newick(self.clades, cells),
        }


def majority_newick(clades: Mapping[frozenset[int], float], cells: Sequence[str]) -> str:
    """The tree of all clades in more than half of the samples, each labelled with its share in percent.

    Two of these always nest or have no cell in common, so that they make a tree (Margush, McMorris 1981).
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
    """What was sampled, with all that is to be said of it.

    Args:
        features: of the samples.
        lines: likewise.
        every, burn_in: see `LeafSampled`.
        to_nats: the log-likelihood of an integer score.
    """
    scores = features.scores()
    values, places = np.unique(scores, return_inverse=True)
    nats = np.array([to_nats(int(value)) for value in values])[places].reshape(scores.shape)
    kept = features.trees()
    sizes = [clade_ess(trees) for trees in kept]
    return LeafSampled(
        every,
        burn_in,
        nats,
        features.clades(),
        bulk_ess(nats) if nats.size else math.nan,
        split_rhat(nats) if nats.size else math.nan,
        float(sum(sizes)) if sizes else math.nan,
        sum(changes(trees) < FEWEST_CHANGES for trees in kept),
        spread_of(features.shares()),
        lines,
    )
