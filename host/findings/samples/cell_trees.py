"""Samples of cell trees: their clades, their convergence diagnostics, and their files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.diagnostics.trees import clade_ess, spread_of
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.leaf import clades
from syclade.host.data.trees.leaf_formats import leaf_labels, leaf_newick
from syclade.host.data.trees.newick import quoted_label
from syclade.host.findings.samples.clades import CladeFeatures
from syclade.host.findings.samples.diagnostics import judged
from syclade.host.findings.samples.lines import sample_lines
from syclade.host.findings.samples.sampled import Sampled, sampled_rates
from syclade.host.findings.samples.sampling import Sampling
from syclade.host.ground.atomic import Content
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.clones import Clone
    from syclade.host.findings.consensus.unplaced import Unplaced

__all__ = ["SampledCellTrees", "judge_cell_trees", "majority_newick"]

COLUMNS = ("probability", "size", "cells")
"""Columns of clades.tsv: posterior probability, number of cells, their names separated by commas."""

LEAST = 0.05
"""Least posterior probability of clades in clades.tsv."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledCellTrees(Sampled):
    """Samples of cell trees, with the probabilities of clades; see `Sampled`.

    Attributes:
        clades: posterior probability of each clade of more than one cell, by its cells.
        cells: the m names.
        problem: the problem of the chains.
    """

    clades: Mapping[frozenset[int], float]
    cells: tuple[str, ...]
    problem: Problem
    spread_name = "clade_spread"
    spread_of = "their clades"
    dimension = "node"

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def lines(self) -> Iterator[str]:
        """See `Sampled.lines`; score, learned rates, score with their prior, and tree in Newick format."""
        labels = [quoted_label(name) for name in self.cells]

        def line(log_likelihood: float, parents: NDArray[np.int32], more: Sequence[float]) -> str:
            numbers = (f"{number:.6g}" for number in (log_likelihood, *more))
            return "\t".join((*numbers, leaf_newick(parents, labels))) + "\n"

        return sample_lines(self.store, self.problem.to_nats, self.problem.rate_tables.model, line)

    def to_table(self) -> str:
        """Return a tab-separated table: a line with `COLUMNS`, then clades by falling probability."""
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        order = sorted(self.clades.items(), key=lambda one: (-one[1], len(one[0]), sorted(one[0])))
        for clade, share in order:
            if share >= LEAST:
                names = ",".join(self.cells[cell] for cell in sorted(clade))
                table.writerow((f"{share:.6g}", len(clade), names))
        return text.getvalue()

    def files(self) -> dict[str, Content]:
        """See `Sampled.files`."""
        return {
            "tree.samples": self.lines(),
            "clades.tsv": self.to_table(),
            "consensus.newick": majority_newick(self.clades, self.cells),
        }

    def support(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> list[float | None]:
        """See `Sampled.support`: the share of the clade below the clone's edge; None for single cells."""
        below = clades(parents)

        def share(clone: Clone) -> float | None:
            cells = frozenset(np.flatnonzero(below[clone.node]).tolist())
            shared = len(cells) > 1 and unplaced.first_placed(clone.mutations) is not None
            return self.clades.get(cells, 0.0) if shared else None

        return [None, *map(share, clones[1:])]


def majority_newick(clades: Mapping[frozenset[int], float], cells: Sequence[str]) -> str:
    """Return the majority tree in Newick format: all clades in more than half of the samples.

    Each clade is labelled with its share in percent. Two such clades are always nested or disjoint, so they
    form a tree (Margush, McMorris 1981).
    """
    kept = sorted((clade for clade, share in clades.items() if share > 0.5), key=len)
    texts = {frozenset((cell,)): quoted_label(name) for cell, name in enumerate(cells)}
    for clade in kept:
        inside = [one for one in texts if one < clade]
        parts = [texts.pop(one) for one in sorted(inside, key=min)]
        texts[clade] = f"({','.join(parts)}){100 * clades[clade]:.0f}"
    parts = [texts[one] for one in sorted(texts, key=min)]
    return (parts[0] if len(parts) == 1 else f"({','.join(parts)})") + ";\n"


def judge_cell_trees(
    store: SampleStore, sampling: Sampling, problem: Problem, cells: Sequence[str]
) -> SampledCellTrees:
    """Return samples with their clades and convergence diagnostics.

    Args:
        store: the samples.
        sampling: which states they are.
        problem: the problem of the chains.
        cells: the m names.
    """
    features = CladeFeatures(store)
    return SampledCellTrees(
        every=sampling.every,
        burn_in=sampling.burn_in,
        **judged(features.scores(), features.trees(), clade_ess, problem.to_nats),
        spread=spread_of(features.shares()),
        clades=features.clades(),
        rates=sampled_rates(store, problem.rate_tables.model),
        cells=tuple(cells),
        store=store,
        problem=problem,
        names=tuple(leaf_labels(cells)[:-1]),
    )
