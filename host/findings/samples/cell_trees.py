"""Samples of cell trees: scores and clades, their convergence diagnostics, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import Records, SampleStore
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.cells import clades
from syclade.host.data.trees.newick import quoted_label
from syclade.host.data.trees.treefile import leaf_labels, leaf_newick
from syclade.host.findings.samples.diagnostics import clade_ess, judged, spread_of
from syclade.host.findings.samples.sampled import (
    ChainFeatures,
    Sampled,
    SampleFeatures,
    Sampling,
    sample_lines,
    sampled_rates,
)
from syclade.host.ground.atomic import Content
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "CladeFeatures",
    "SampledCellTrees",
    "clades_table",
    "judge_cell_trees",
    "majority_newick",
    "packed_clades",
]


MOST_CLADES = 2**20
"""Most distinct clades; beyond it, clades that occurred only once are dropped."""

_TOGETHER = 64
"""Number of trees whose clades are computed at once."""


class _OfChain(ChainFeatures):
    """Features of one chain; its trees are int64, shape (m - 1,): their clade numbers, sorted.

    Attributes:
        counts: number of samples with each clade, by clade number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[int, int] = {}


class CladeFeatures(SampleFeatures[_OfChain]):
    """Features of all samples. Their memory grows by 8 bytes per sample, and with the number of clades.

    Args:
        store: the samples.
    """

    def __init__(self, store: SampleStore) -> None:
        self._numbers: dict[bytes, int] = {}
        self._met = 0
        super().__init__(store)

    def new_chain(self) -> _OfChain:
        """See `SampleFeatures.new_chain`."""
        return _OfChain()

    def add(self, chain: _OfChain, records: Records) -> None:
        """See `SampleFeatures.add`."""
        for first in range(0, len(records), _TOGETHER):
            some = records[first : first + _TOGETHER]
            trees = np.ascontiguousarray(some["parents"])
            for score, rows in zip(some["score"].tolist(), packed_clades(trees), strict=True):
                numbers = sorted(self._number(row.tobytes()) for row in rows)
                chain.take(score, np.array(numbers, dtype=np.int64))
                for clade in numbers:
                    chain.counts[clade] = chain.counts.get(clade, 0) + 1
            if len(self._numbers) > MOST_CLADES:
                self._forget_rare()

    def _number(self, clade: bytes) -> int:
        if clade not in self._numbers:
            self._numbers[clade] = self._met
            self._met += 1
        return self._numbers[clade]

    def _forget_rare(self) -> None:
        """Drop clades that occurred only once in a chain from its counts.

        A clade without a count in any chain gets a new number if it occurs again.
        """
        for chain in self.chains:
            chain.counts = {clade: count for clade, count in chain.counts.items() if count > 1}
        counted = {clade for chain in self.chains for clade in chain.counts}
        self._numbers = {name: clade for name, clade in self._numbers.items() if clade in counted}

    def clades(self) -> dict[frozenset[int], float]:
        """Return the posterior probability of each clade of more than one cell, by its cells."""
        total = max(self.samples, 1)
        return {
            frozenset(_cells_of(name)): sum(of.counts.get(number, 0) for of in self.chains) / total
            for name, number in self._numbers.items()
        }

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each chain's samples with each clade: float64, shape (chains, clades)."""
        numbers = [self._numbers[name] for name in sorted(self._numbers)]  # whatever order they came in
        return np.array(
            [
                [chain.counts.get(number, 0) / max(len(chain.scores), 1) for number in numbers]
                for chain in self.chains
            ]
        )


def packed_clades(trees: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the cells below each internal node; all cells climb together, one node at a time.

    Args:
        trees: int32, shape (trees, 2m - 1).

    Returns:
        uint8, shape (trees, m - 1, ceil(m / 8)): one bit per cell; the first is the lowest of the first byte.
    """
    count, nodes = trees.shape
    cells = (nodes + 1) // 2
    below = np.zeros((count, nodes, cells), dtype=bool)
    tree, cell = np.indices((count, cells))
    at = np.broadcast_to(np.arange(cells), (count, cells))
    while True:
        at = np.take_along_axis(trees, at, axis=1)
        below[tree, at, cell] = True
        if (at == nodes - 1).all():
            break
    return np.packbits(below[:, cells:], axis=2, bitorder="little")


def _cells_of(clade: bytes) -> list[int]:
    bits = np.unpackbits(np.frombuffer(clade, dtype=np.uint8), bitorder="little")
    cells: list[int] = np.flatnonzero(bits).tolist()
    return cells


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
        """Return the table of clades: tab-separated."""
        return clades_table(self.clades, self.cells)

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


def clades_table(clades: Mapping[frozenset[int], float], cells: Sequence[str]) -> str:
    """Return the text of ``clades.tsv``: a line with `COLUMNS`, then clades by falling probability.

    Args:
        clades: share of each clade of more than one cell, by its cells.
        cells: names of the cells.
    """
    order = sorted(clades.items(), key=lambda one: (-one[1], len(one[0]), sorted(one[0])))
    rows = (
        (f"{share:.6g}", len(clade), ",".join(cells[cell] for cell in sorted(clade)))
        for clade, share in order
        if share >= LEAST
    )
    return tsv_text(COLUMNS, rows)


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
