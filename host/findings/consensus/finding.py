"""Consensus of sampled trees as a finding; and the tree to publish, with its posterior, from which shares of
specimens and genotypes are made.

If no trees were sampled, cells.tsv has the cells on the most likely tree instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import root_label
from syclade.host.findings.consensus.cells import ROUNDING, CloneCells, cells_on, mutation_gains
from syclade.host.findings.consensus.clone_tree import CloneTree, spaced_trees
from syclade.host.findings.consensus.prevalence import Mixture
from syclade.host.findings.consensus.tables import cells_table
from syclade.host.findings.finding import (
    CELLS,
    MUTATIONS,
    RESULT,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.findings.joint_shares import joint_warnings, share_text
from syclade.host.ground.values import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syclade.host.findings.consensus.clone_tree import CloneTree
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.consensus.of_specimens import SpecimenShares
    from syclade.host.findings.finding import BestTree
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = [
    "CONSENSUS",
    "LIKELY_CELLS",
    "ConsensusFinding",
    "LikelyCells",
    "PublishedTree",
    "likely_clones",
    "published_consensus",
    "published_tree",
]


_MOST_TREES = 1000
"""Most sampled trees, evenly spaced."""


class PublishedTree(NamedTuple):
    """Clone tree of the placed mutations, and sampled trees of the same mutations.

    Attributes:
        tree: the clone tree.
        mutations: names of the n placed mutations.
        gains: float64, shape (n, cells): what each mutation adds to the log-likelihood of a placed cell.
        trees: int32, shape (trees, n + 1): sampled trees; without samples, the most likely tree alone.
        shares: float64, of the same shape: part of the cells at each node; None for samples without shares.
        doublets: rate of doublets; None if all cells are single.
        unions: clones between whose mutations a claim is kept back: their cells need not have all of them.
    """

    tree: CloneTree
    mutations: tuple[str, ...]
    gains: NDArray[np.float64]
    trees: NDArray[np.int32]
    shares: NDArray[np.float64] | None
    doublets: float | None
    unions: frozenset[int] = frozenset()


def published_tree(best: BestTree, consensus: CloneConsensus | None, unplaced: Unplaced) -> PublishedTree:
    """Return the tree to publish: the consensus, or clones of the most likely tree if there are no samples.

    Args:
        best: the most likely tree, a mutation tree without copies.
        consensus: the consensus; None for none.
        unplaced: mutations and cells that are not in it.
    """
    if consensus is None:
        doublets = None if best.assignment.doublets is None else best.assignment.doublets.rate
        placed, parents = unplaced.of_matrix(best.observed), unplaced.of_tree(best.parents)
        gains = mutation_gains(placed, best.rates, None)
        tree = likely_clones(best, unplaced)
        return PublishedTree(tree, placed.mutations, gains, parents[None], None, doublets)
    return published_consensus(consensus)


def likely_clones(best: BestTree, unplaced: Unplaced) -> CloneTree:
    """Return the clones of the most likely tree, numbered as in figures and in the report.

    Args:
        best: the most likely tree, a mutation tree without copies.
        unplaced: mutations and cells that are not in it.
    """
    clones, rows = best.kind.clones(best.tree, unplaced), unplaced.placed_mutations(len(best.mutations))
    clone_of = np.zeros(len(best.mutations), dtype=np.int32)
    for number, one in enumerate(clones):
        clone_of[list(one.mutations)] = number
    return CloneTree(clone_of[rows], np.array([one.parent for one in clones], dtype=np.int32))


def published_consensus(consensus: CloneConsensus) -> PublishedTree:
    """Return a consensus as the tree to publish, with its samples.

    Args:
        consensus: the consensus.
    """
    if consensus.shared is None:
        trees, shares = spaced_trees(consensus.sampled, consensus.relations.samples, _MOST_TREES), None
    else:
        trees, shares = consensus.shared
    gains = mutation_gains(consensus.placed, consensus.rates, consensus.fn_rates)
    unions = frozenset(clone for clone, some in enumerate(consensus.open_mutations) if some)
    return PublishedTree(
        consensus.tree, consensus.mutations, gains, trees, shares, consensus.doublets, unions
    )


SUPPORT_WORDS = (
    "Support is the share of the sampled trees in which some clone has exactly these mutations at it and "
    "below it: not how sure it is which of them came first."
)


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
        normal = ", ".join(found.mutations[one] for one in found.tree.members[0]) or "none: the root"
        joint = {clone: one.mark for one in found.cells.joint for clone in one.clones}
        rows = [("0", normal, "", f"{share_text(found.prevalence[0])}{joint.get(0, '')}")]
        rows += [
            (
                str(clone),
                _mutations_of(found, clone),
                f"{found.support[clone]:.2f}",
                f"{share_text(found.prevalence[clone])}"
                f"{' (of a union)' if found.open_mutations[clone] else ''}"
                f"{joint.get(clone, '')}",
            )
            for clone in range(1, found.tree.clones)
        ]
        head = ("clone", "mutations", "support", "cells of the clone itself")
        joined = map(sentence, joint_warnings("some specimens do", found.cells.joint))
        words = [*map(sentence, found.words), SUPPORT_WORDS, *joined]
        warnings = tuple(map(sentence, found.warnings))
        return Section("Clones of the consensus", tuple(words), cut(head, rows), warnings)

    def columns(self) -> list[Column]:
        """Return the number of clones; the clone of each mutation and cell, and the probability of each."""
        found, count = self.consensus, self.consensus.matrix.n_cells
        posterior = np.full((count, found.tree.clones), np.nan)  # of unplaced cells
        posterior[found.placed_cells] = found.cells.probability.T
        return [
            Column(RESULT, "clones", [found.tree.clones - 1]),
            _column_of_mutations(found.tree, found.unplaced, found.matrix.n_mutations),
            *_columns_of_cells(found.cells, found.placed_cells, count),
            Column(CELLS, "clone_posterior", posterior),
        ]


def _column_of_mutations(tree: CloneTree, unplaced: Unplaced, count: int) -> Column:
    """Return the number of each mutation's clone; None for unplaced mutations.

    Args:
        tree: the clones of the placed mutations.
        unplaced: the unplaced ones.
        count: number of all mutations.
    """
    found: list[Json] = [None] * count
    for row, clone in zip(unplaced.placed_mutations(count).tolist(), tree.clone_of.tolist(), strict=True):
        found[row] = str(clone)
    return Column(MUTATIONS, "clone", found, [str(clone) for clone in range(tree.clones)])


def _columns_of_cells(cells: CloneCells, placed: NDArray[np.int64], count: int) -> list[Column]:
    """Return of each cell its clone, the runner-up, and whether it fits; None for unplaced cells.

    Args:
        cells: the placed cells.
        placed: int64: their numbers.
        count: number of all cells.
    """
    numbers = [str(clone) for clone in range(len(cells.likelihood))]
    columns: list[tuple[str, Sequence[Json], Sequence[str] | None]] = [
        ("clone", [numbers[clone] for clone in cells.best.tolist()], numbers),
        ("clone_probability", cells.probability.max(axis=0).tolist(), None),
        ("runner_up", [numbers[clone] for clone in cells.runner_up.tolist()], numbers),
        ("runner_up_probability", cells.probability_of(cells.runner_up).tolist(), None),
        ("fits", ["yes" if fits else "no" for fits in cells.fits.tolist()], ("no", "yes")),
    ]
    if cells.joint:
        groups = [None if one is None else one[0] for one in cells.joint_of_cells()]
        columns.append(("joint", groups, sorted({one for one in groups if one})))

    def of_all(values: Sequence[Json]) -> list[Json]:
        found: list[Json] = [None] * count
        for cell, value in zip(placed.tolist(), values, strict=True):
            found[cell] = value
        return found

    return [Column(CELLS, name, of_all(values), categories) for name, values, categories in columns]


def _mutations_of(found: CloneConsensus, clone: int) -> str:
    """Return the mutations of a clone; if a claim on them is kept back, how many cells have each."""
    members = found.tree.members[clone]
    if not found.open_mutations[clone]:
        return ", ".join(found.mutations[one] for one in members)
    return f"open, not all in each cell: {', '.join(found.seen_words(members))} of the cells with a value"


def _names(question: Question) -> Iterable[str]:
    return question.kind.consensus_names if question.samples_trees else ()


CONSENSUS = made_by_stage(ConsensusFinding, _names)


FILE = "cells.tsv"


@dataclass(frozen=True, eq=False, repr=False)
class EvenCells(CloneCells):
    """Cells on clones that have equal shares of them.

    Attributes:
        attached: int32, shape (cells,): the clone of each cell's best node, which is one of the best clones.
    """

    attached: NDArray[np.int32] | None = None

    @property
    def best(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the most probable clone; of equal ones, that of the cell's best node."""
        assert self.attached is not None
        of_best = self.probability_of(self._first_two[0])
        as_likely = self.probability_of(self.attached) >= of_best * (1.0 - ROUNDING)
        return np.asarray(np.where(as_likely, self.attached, self._first_two[0]))

    @property
    def runner_up(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the second most probable clone; of equal ones, the first."""
        first, second = self._first_two
        return np.asarray(np.where(self.best == first, second, first))

    @cached_property
    def mixture(self) -> Mixture:
        """The likelihoods themselves; there are no intervals."""
        none = np.full(len(self.likelihood), np.nan)
        return Mixture(self.likelihood, none, none)


@dataclass(frozen=True, eq=False, repr=False)
class LikelyCells(Finding):
    """Cells on the clones of the most likely tree.

    Attributes:
        best: the most likely tree, of mutations that occur once.
        unplaced: mutations and cells that are left out.
        labels: labels of all cells, by their names.
        specimens: shares of the clones in specimens; None if all cells are of one.
    """

    name = "likely_cells"
    best: BestTree
    unplaced: Unplaced
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    specimens: SpecimenShares | None = None

    @cached_property
    def tree(self) -> CloneTree:
        """The clones of the most likely tree, numbered as in figures and in the report."""
        return likely_clones(self.best, self.unplaced)

    @cached_property
    def cells(self) -> CloneCells:
        """The placed cells: the shares of the clones are equal, unless there are doublets or specimens.

        Drawing shares would take longer than a search, so this is what is known without it.
        """
        best, doublets = self.best, self.best.assignment.doublets
        placed = self.unplaced.of_matrix(best.observed)
        rate = None if doublets is None or not placed.n_cells else doublets.rate
        found = cells_on(self.tree, placed, best.rates, doublets=rate, specimens=self.specimens)
        drawn = rate is not None or self.specimens is not None
        if drawn:
            return found
        nodes = self.unplaced.nodes_of(self.best.parents, self.best.assignment.node)
        attached = np.append(self.tree.clone_of, 0)[nodes[self.unplaced.placed_cells(len(nodes))]]
        return EvenCells(found.likelihood, found.tail, attached=attached.astype(np.int32))

    def files(self) -> dict[str, Content]:
        """Return the table of cells; the node of a clone is the last of its nodes, which has its cells."""
        names, unplaced = self.best.cells, tuple(self.unplaced.cells)
        clones = self.best.kind.clones(self.best.tree, self.unplaced)
        node_of = [
            root_label(self.best.mutations),
            *(self.best.mutations[one.mutations[-1]] for one in clones[1:]),
        ]
        placed = iter(self.cells.best.tolist())
        nodes = ["" if cell in unplaced else node_of[next(placed)] for cell in range(len(names))]
        return {FILE: cells_table(self.cells, names, unplaced, {"node": nodes, **self.labels})}

    def columns(self) -> list[Column]:
        """Return the clone of each mutation; of each cell its clone, the runner-up, and whether it fits."""
        count = len(self.best.cells)
        return [
            _column_of_mutations(self.tree, self.unplaced, len(self.best.mutations)),
            *_columns_of_cells(self.cells, self.unplaced.placed_cells(count), count),
        ]


def _likely_names(question: Question) -> Iterable[str]:
    sampled = question.samples_trees or question.options.recurrent is not None
    return () if sampled or not question.kind.consensus_names else (FILE,)


LIKELY_CELLS = made_by_stage(LikelyCells, _likely_names)
