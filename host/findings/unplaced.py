"""Unplaced mutations and cells: the data say nothing of their place in a tree, or too little.

A tree has a node for every mutation, but the place of an unplaced one is arbitrary. So support and consensus
are of the trees without them: a node below an unplaced mutation is a child of the nearest placed one above.
Mutations that cells contradict at each place are left out of the consensus alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import DerivedMatrix, Matrix
from syclade.host.data.model.rates import MISSING
from syclade.host.data.model.reads import observed_states, states_before_run
from syclade.host.findings.consensus.relations import Relations, TreeBlocks
from syclade.host.findings.finding import Finding, FindingKind, Section, cut, no_files, sentence
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, counted, listed, short_repr

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft

__all__ = [
    "CONTRADICTED",
    "KEPT_BACK",
    "NEVER_SEEN",
    "NO_OBSERVATION",
    "NO_OTHER",
    "UNCERTAIN",
    "UNOBSERVED",
    "UNPLACED",
    "UNPLACED_MARK",
    "Unplaced",
    "UnplacedFinding",
    "unplaced_in",
]


UNPLACED_MARK = "unplaced"
"""Mark of unplaced mutations and cells in tables."""

PLACE, NEARLY = 0.2, 0.75
"""A mutation whose best place has a probability below PLACE is set aside (docs/trust.md); and the part of it
from which another run, whose probabilities differ by some hundredths, may place the mutation."""

NO_OBSERVATION = "without an observation"
NEVER_SEEN = "seen in no cell"
NO_OTHER = "observed only at unplaced mutations"
UNCERTAIN = "without a sure place"
CONTRADICTED = "that cells contradict at each place"
"""Reasons, to follow "1 mutation" or "2 cells"."""

KEPT_BACK, UNOBSERVED = "kept back", "unobserved"
"""Reasons why the edge of a placed mutation is doubtful: a claim on it is kept back, or no cell tells of it
and its parent."""


@dataclass(frozen=True)
class Unplaced:
    """Unplaced mutations and cells of a matrix, by their numbers, each with its reason.

    Attributes:
        mutations: reasons by the row of the mutation, ascending.
        cells: reasons by the column of the cell, ascending.
        best_place: probability of the best place of each mutation that is `UNCERTAIN`, by its row.
        seen_when_read: rows seen in no cell by the run's model of reads, but in some by the model without a
            tree, which is what limits of the input count.
    """

    mutations: Mapping[int, str] = field(default_factory=dict)
    cells: Mapping[int, str] = field(default_factory=dict)
    best_place: Mapping[int, float] = field(default_factory=dict)
    seen_when_read: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        """Return the fields in a line."""
        return short_repr(self)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.mutations or self.cells)

    def joined(self, mutations: Mapping[int, str]) -> Unplaced:
        """Return the union with further mutations; mutations that were unplaced before keep their reason."""
        return replace(self, mutations=dict(sorted({**mutations, **self.mutations}.items())))

    def with_uncertain(self, best_place: Mapping[int, float]) -> Unplaced:
        """Return these with mutations of uncertain place, by the probability of their best one."""
        found = self.joined(dict.fromkeys(best_place, UNCERTAIN))
        return replace(found, best_place={**self.best_place, **best_place})

    @property
    def uncertain(self) -> Unplaced:
        """Those of uncertain place alone."""
        return Unplaced(dict.fromkeys(self.best_place, UNCERTAIN), {}, self.best_place)

    @property
    def nearly_placed(self) -> list[int]:
        """Rows of mutations whose best place is nearly probable enough: other samples may place them."""
        return [row for row, share in self.best_place.items() if share >= NEARLY * PLACE]

    @property
    def subject(self) -> str:
        """Pronoun of these, with its verb: it says or they say."""
        return "it says" if len(self.mutations) + len(self.cells) == 1 else "they say"

    @property
    def silent(self) -> Unplaced:
        """Mutations and cells about which the data say nothing."""
        said = (UNCERTAIN, CONTRADICTED)
        known = {row: reason for row, reason in self.mutations.items() if reason not in said}
        return Unplaced(known, self.cells)

    @property
    def contradicted(self) -> Unplaced:
        """Mutations that cells contradict at each place."""
        return Unplaced({row: reason for row, reason in self.mutations.items() if reason == CONTRADICTED})

    def placed_mutations(self, count: int) -> NDArray[np.int64]:
        """Return the rows of the placed mutations, of this many in all."""
        return _others(count, self.mutations)

    def placed_cells(self, count: int) -> NDArray[np.int64]:
        """Return the columns of the placed cells, of this many in all."""
        return _others(count, self.cells)

    def first_placed(self, mutations: Sequence[int]) -> int | None:
        """Return the first of some mutations that is placed; None if there is none."""
        return next((one for one in mutations if one not in self.mutations), None)

    def of_matrix(self, matrix: Matrix) -> Matrix:
        """Return the matrix of the placed mutations and cells, with their names."""
        if not self:
            return matrix
        rows, columns = self.placed_mutations(matrix.n_mutations), self.placed_cells(matrix.n_cells)
        cells = matrix.named_cells
        return replace(
            matrix,
            values=np.ascontiguousarray(matrix.values[np.ix_(rows, columns)]),
            evidence=None if matrix.evidence is None else matrix.evidence.taken(rows, columns),
            mutations=tuple(matrix.mutations[row] for row in rows.tolist()),
            cells=tuple(cells[column] for column in columns.tolist()),
        )

    def of_trees(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return mutation trees without the unplaced mutations, whose children go to the node above.

        Args:
            trees: int32, shape (trees, n + 1): parent vectors.

        Returns:
            int32, shape (trees, placed + 1); mutations are numbered anew.
        """
        if not self.mutations:
            return trees
        number, above = self._numbers(trees.shape[1]), self._placed_parents(trees)
        return np.asarray(number[above[:, number >= 0]])

    def of_tree(self, parents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return one mutation tree without the unplaced mutations: int32, shape (placed + 1,)."""
        return np.asarray(self.of_trees(parents[np.newaxis])[0])

    def of_shares(self, trees: NDArray[np.int32], shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of the placed nodes of mutation trees; those of the others go to the node above.

        Args:
            trees: int32, shape (trees, n + 1): parent vectors.
            shares: float64, of the same shape: part of the cells at each node.

        Returns:
            float64, shape (trees, placed + 1).
        """
        if not self.mutations:
            return shares
        found, above, rows = shares.copy(), self._placed_parents(trees), np.arange(len(trees))
        for gone in self.mutations:
            found[rows, above[:, gone]] += shares[:, gone]
        return found[:, self._numbers(trees.shape[1]) >= 0]

    def of_blocks(self, blocks: TreeBlocks) -> TreeBlocks:
        """Return sampled trees without the unplaced mutations."""
        return partial(self._of_blocks, blocks) if self.mutations else blocks

    def _of_blocks(self, blocks: TreeBlocks) -> Iterator[NDArray[np.int32]]:
        return map(self.of_trees, blocks())

    def of_relations(self, relations: Relations) -> Relations:
        """Return the relations of the placed mutations, which do not depend on the others."""
        if not self.mutations:
            return relations
        rows = self.placed_mutations(len(relations.above))
        pairs, few, together = np.ix_(rows, rows), relations.unseparated, relations.together
        return replace(
            relations,
            above=relations.above[pairs],
            unseparated=None if few is None else few[pairs],
            together=None if together is None else together[pairs],
        )

    def ancestors_of_placed(self, ancestors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of ancestor relations, (n, n), with NaN for those of unplaced mutations."""
        if not self.mutations:
            return ancestors
        found, gone = ancestors.copy(), list(self.mutations)
        found[gone] = found[:, gone] = np.nan
        return found

    def parents_of(self, parents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the nearest placed node above each node of a mutation tree: int32, shape (n + 1,)."""
        return np.asarray(self._placed_parents(parents[np.newaxis])[0])

    def nodes_of(self, parents: NDArray[np.int32], nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the nearest placed node at or above some nodes, as it is numbered in `of_tree`.

        Args:
            parents: int32, shape (n + 1,): the tree.
            nodes: int32: nodes of it.
        """
        number = self._numbers(len(parents))
        return np.asarray(number[np.where(number[nodes] >= 0, nodes, self.parents_of(parents)[nodes])])

    def _numbers(self, nodes: int) -> NDArray[np.int32]:
        """Return the number of each node among the placed ones, and -1 for the others: int32, (n + 1,)."""
        number = np.full(nodes, -1, dtype=np.int32)
        placed = _others(nodes, self.mutations)
        number[placed] = np.arange(len(placed))
        return number

    def _placed_parents(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        gone = self._numbers(trees.shape[1]) < 0
        while gone[trees].any():  # each turn doubles the length of the jumps
            trees = np.where(gone[trees], np.take_along_axis(trees, trees, axis=1), trees)
        return trees

    def words(self, mutations: Sequence[str], cells: Sequence[str]) -> str:
        """Return the counts and some names for each reason as text.

        Args:
            mutations, cells: names, in the order of the matrix.
        """
        return ", ".join(
            f"{counted(len(names), what, f'{what}s')} {reason} ({listed(names)})"
            for what, unplaced, all_names in (
                ("mutation", self.mutations, mutations),
                ("cell", self.cells, cells),
            )
            for reason, names in _by_reason(unplaced, all_names).items()
        )

    def warnings(self, mutations: Sequence[str], cells: Sequence[str]) -> list[str]:
        """Return a message about those of which the data say nothing; it is logged before a run begins.

        Args:
            mutations, cells: as for `words`.
        """
        found = self.silent
        if not found:
            return []
        removable = len(found.mutations.keys() - self.seen_when_read)
        hint = f" ({flag_of('min_cells', 1)} leaves such mutations out)" if removable else ""
        if 0 < removable < len(found.mutations):
            hint = f" ({flag_of('min_cells', 1)} leaves {removable} of these mutations out)"
        return [f"{found.words(mutations, cells)}: {found.subject} nothing of the tree{hint}"]

    def to_dict(self, mutations: Sequence[str], cells: Sequence[str]) -> JsonObject:
        """Return the names of the mutations and cells by their reasons, as plain values.

        Args:
            mutations, cells: as for `words`.
        """
        return {
            "mutations": _by_reason(self.mutations, mutations),
            "cells": _by_reason(self.cells, cells),
            **(
                {"best_place": {mutations[row]: share for row, share in self.best_place.items()}}
                if self.best_place
                else {}
            ),
        }


def unplaced_in(matrix: Matrix) -> Unplaced:
    """Return the mutations and cells whose place a matrix does not determine.

    These are mutations without an observation, or observed, but in no cell; and cells without an observation
    of any other mutation. With evidence, an entry counts by what it says (`observed_states`).
    """
    states = observed_states(matrix)
    known, seen = states != MISSING, (states == 1) | (states == 2)
    mutations = {
        row: NEVER_SEEN if known[row].any() else NO_OBSERVATION
        for row in np.flatnonzero(~seen.any(axis=1)).tolist()
    }
    informative = known[_others(matrix.n_mutations, mutations)].any(axis=0)
    cells = {
        column: NO_OTHER if known[:, column].any() else NO_OBSERVATION
        for column in np.flatnonzero(~informative).tolist()
    }
    if not isinstance(matrix, DerivedMatrix) or matrix.origin is None or not mutations:
        return Unplaced(mutations, cells)
    states = states_before_run(matrix.origin)
    when_read = (states == 1) | (states == 2)
    return Unplaced(
        mutations,
        cells,
        seen_when_read=frozenset(row for row in mutations if row < len(when_read) and when_read[row].any()),
    )


def _others(count: int, some: Collection[int]) -> NDArray[np.int64]:
    return np.setdiff1d(np.arange(count), np.fromiter(some, np.int64, len(some)), assume_unique=True)


def _by_reason(unplaced: Mapping[int, str], names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for number, reason in unplaced.items():
        found.setdefault(reason, []).append(names[number])
    return found


@dataclass(frozen=True, eq=False, repr=False)
class UnplacedFinding(Finding):
    """Mutations and cells whose place is unknown.

    Attributes:
        unplaced: these mutations and cells, by number.
        mutations, cells: names of all, in the order of the matrix.
        sampled: whether there are sampled trees, which leave them out.
    """

    name = "unplaced"
    unplaced: Unplaced
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    sampled: bool = True

    def summary(self) -> JsonObject:
        """Return the names by their reasons; also if there are none."""
        return {"unplaced": self.unplaced.to_dict(self.mutations, self.cells)}

    @property
    def warnings(self) -> list[str]:
        """Mutations and cells of which the data say nothing."""
        return self.unplaced.warnings(self.mutations, self.cells)

    def section(self) -> Section | None:
        """Return the reasons, and the probability of the best place of uncertain mutations."""
        if not self.unplaced:
            return None
        uncertain, against = self.unplaced.uncertain, self.unplaced.contradicted
        warnings = list(map(sentence, self.warnings))
        if uncertain:
            warnings.append(
                f"{uncertain.words(self.mutations, self.cells)}: the sampled trees have them in many places."
            )
        if against:
            warnings.append(
                f"{against.words(self.mutations, self.cells)}: see the warnings of the consensus."
            )
        rows = [
            (self.mutations[row], f"{share:.2g}")
            for row, share in sorted(uncertain.best_place.items(), key=lambda one: one[1])
        ]
        table = cut(("mutation", "probability of its best place"), rows) if rows else None
        return Section("Unplaced", tuple(self._places()), table, tuple(warnings))

    def _places(self) -> Iterator[str]:
        """Yield what the places of unplaced mutations and cells in the most likely tree say."""
        against = len(self.unplaced.contradicted.mutations)
        if against:
            yield (
                "The most likely tree has mutations that cells contradict where most cells fit; the "
                "consensus leaves them out, the support does not."
            )
        if len(self.unplaced.mutations) + len(self.unplaced.cells) > against:
            whose = "The places of all others" if against else "Their places"
            without = "support and consensus" if self.sampled else "figures and tables of clones"
            yield f"{whose} in the most likely tree are arbitrary; {without} leave them out."


def _unplaced(draft: Draft) -> UnplacedFinding:
    best = draft.best
    sampled = draft.found.samples is not None or any(kind.name == "support" for kind in draft.findings)
    return UnplacedFinding(draft.unplaced, best.mutations, best.cells, sampled)


UNPLACED = FindingKind(UnplacedFinding.name, _unplaced, no_files)
