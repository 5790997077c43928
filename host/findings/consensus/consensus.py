"""Consensus of sampled mutation trees: a clone tree with its support and its cells, and its files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import ObservationModel, Rates
from syclade.host.data.model.reads import observed_states
from syclade.host.data.model.recurrence import MISSING
from syclade.host.data.trees.distances import Agreement
from syclade.host.findings.consensus.cells import CloneCells, cells_on, seeding_probabilities
from syclade.host.findings.consensus.claims import (
    Improbable,
    Spread,
    claim_warnings,
    improbable_claims,
    quality_warnings,
    spread_of_dropout,
)
from syclade.host.findings.consensus.clone_records import (
    CloneRecord,
    clone_records_of,
    clones_table,
    descents_of,
)
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of, spaced_trees
from syclade.host.findings.consensus.evidence import (
    Conflict,
    Contradiction,
    PairCounts,
    conflicts_in,
    contradictions_in,
    evident_in,
)
from syclade.host.findings.consensus.of_specimens import SpecimenShares
from syclade.host.findings.consensus.rarely_seen import rarely_seen_in
from syclade.host.findings.consensus.relations import Relations, SharedTrees, TreeBlocks
from syclade.host.findings.consensus.search import Thresholds
from syclade.host.findings.consensus.tables import (
    PairRelation,
    cells_table,
    clone_newick,
    relation_of,
    relations_table,
)
from syclade.host.findings.inputs import rate_text
from syclade.host.findings.unplaced import CONTRADICTED, KEPT_BACK, UNOBSERVED, UNPLACED_MARK, Unplaced
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.values import JsonObject, counted, listed, part_of, short_repr

__all__ = ["FILES", "SEEDING_TREES", "CloneConsensus", "SetAside"]

FILES = ("consensus.newick", "clones.tsv", "relations.tsv", "cells.tsv")
"""Names of the files."""

SEEDING_TREES = 1000
"""Most sampled trees, evenly spaced, of which probabilities of seeding are means."""


class SetAside(NamedTuple):
    """Mutation that the consensus leaves out, since claims on it that are kept back leave it no place.

    Attributes:
        mutation: its name.
        claims: these claims as text, with the numbers of cells.
    """

    mutation: str
    claims: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CloneConsensus:
    """Consensus of sampled mutation trees.

    Attributes:
        tree: the clone tree, of the placed mutations (`mutations`).
        relations: relations of all pairs of placed mutations in the samples.
        pair_counts: numbers of cells that support or contradict them.
        kept_back: probable claims that most telling cells contradict; the tree leaves these pairs open.
        set_aside: unplaced mutations that such claims leave no place.
        unobserved: bool, shape (n, n): pairs of placed mutations of which no cell tells anything
            (`unobserved_pairs`); what the tree shows of them is no finding. None if there are none.
        thresholds: the least probabilities of claims that pay.
        gain: gain of the tree (`gains`): the sum over its claims of probability minus threshold.
        support: float64, shape (clones,): share of the samples with each clone (`clone_support`).
        cells: the placed cells on the clones.
        sampled: the sampled trees, of the placed mutations.
        likely: int32, shape (placed + 1,): the most likely tree of these mutations.
        matrix, rates: the observed values of all mutations and cells, and the error rates.
        unplaced: mutations and cells that are not in the tree.
        truth: agreement with the true tree (`agreement_with`), if it was given.
        fn_rates: float64, rates of false negatives of the placed mutations; None for that of `rates`.
        doublets: rate of doublets, by which claims are judged; None if all cells are single.
        shared: up to `SEEDING_TREES` sampled trees of these mutations with shares of their nodes; None for
            samples without shares.
        labels: labels of all cells, by their names.
        enough: whether the samples are enough by their diagnostics.
    """

    tree: CloneTree
    relations: Relations
    pair_counts: PairCounts
    kept_back: tuple[Contradiction, ...]
    thresholds: Thresholds
    gain: float
    support: NDArray[np.float64]
    cells: CloneCells
    sampled: TreeBlocks
    likely: NDArray[np.int32]
    matrix: Matrix
    rates: ObservationModel
    call_rates: Rates
    unplaced: Unplaced = field(default_factory=Unplaced)
    truth: Mapping[str, Agreement] | None = None
    fn_rates: NDArray[np.float64] | None = None
    doublets: float | None = None
    shared: SharedTrees | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unobserved: NDArray[np.bool_] | None = None
    set_aside: tuple[SetAside, ...] = ()
    enough: bool = True

    @cached_property
    def placed(self) -> Matrix:
        """The matrix of the placed mutations and cells."""
        return self.unplaced.of_matrix(self.matrix)

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def mutations(self) -> tuple[str, ...]:
        """Names of the placed mutations, in the order of the matrix."""
        return self.placed.mutations

    @property
    def unplaced_mutations(self) -> tuple[str, ...]:
        """Names of the unplaced mutations, in the order of the matrix."""
        return tuple(self.matrix.mutations[mutation] for mutation in self.unplaced.mutations)

    @property
    def placed_cells(self) -> NDArray[np.int64]:
        """int64: columns of the placed cells in the matrix."""
        return self.unplaced.placed_cells(self.matrix.n_cells)

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Names of the placed cells, in the order of the matrix."""
        return self.placed.named_cells

    @property
    def clones_of_mutations(self) -> dict[str, int | None]:
        """The clone of each mutation by its name, in the order of the matrix; None for unplaced mutations."""
        clones = dict(zip(self.mutations, self.tree.clone_of.tolist(), strict=True))
        return {name: clones.get(name) for name in self.matrix.mutations}

    @property
    def clones_of_cells(self) -> dict[str, int | None]:
        """The most probable clone of each cell by its name; None for unplaced cells."""
        clones = dict(zip(self.cell_names, self.cells.best.tolist(), strict=True))
        names = self.matrix.named_cells
        return {name: clones.get(name) for name in names}

    @cached_property
    def clone_records(self) -> tuple[CloneRecord, ...]:
        """The clones with their numbers, as in clones.tsv, the root first."""
        return clone_records_of(
            self.tree, self.mutations, self.support, self.relations,
            self.cells.mixture, self.seen, self.open_mutations,
        )  # fmt: skip

    @property
    def prevalence(self) -> NDArray[np.float64]:
        """float64, shape (clones,): expected part of the placed cells that are of each clone itself."""
        return self.cells.mixture.prevalence

    @cached_property
    def open_mutations(self) -> list[list[int]]:
        """For each clone, those of its mutations that need not be in the same cells.

        A claim on them is kept back, or no cell tells of them.
        """
        found: list[set[int]] = [set() for _ in range(self.tree.clones)]
        for one, two in [*((one.first, one.second) for one in self.kept_back), *self.unobserved_pairs]:
            if (clone := int(self.tree.clone_of[one])) == self.tree.clone_of[two]:
                found[clone] |= {one, two}
        return [sorted(one) for one in found]

    @property
    def unobserved_pairs(self) -> list[tuple[int, int]]:
        """Rows of the mutations of each pair of which no cell tells anything."""
        if self.unobserved is None:
            return []
        return [(one, two) for one, two in np.argwhere(np.triu(self.unobserved)).tolist()]

    @property
    def doubtful_mutations(self) -> dict[int, str]:
        """Mutations whose edge in the most likely tree is not sure, by their rows in the matrix, ascending.

        They are in a claim that is kept back, or set aside for one (`KEPT_BACK`), or no cell tells of them
        and their parent (`UNOBSERVED`).
        """
        rows = self.unplaced.placed_mutations(self.matrix.n_mutations).tolist()
        found: dict[int, str] = {}
        for pair in self.unobserved_pairs:
            found |= {rows[one]: UNOBSERVED for one, two in (pair, pair[::-1]) if self.likely[one] == two}
        found |= {rows[at]: KEPT_BACK for one in self.kept_back for at in (one.first, one.second)}
        aside = [row for row, reason in self.unplaced.mutations.items() if reason == CONTRADICTED]
        return dict(sorted((found | dict.fromkeys(aside, KEPT_BACK)).items()))

    def seen_words(self, mutations: Iterable[int]) -> list[str]:
        """Return the names of mutations, each with the part of the cells with a value in which it is seen."""
        return [f"{self.mutations[one]} {self.seen[one]:.1%}" for one in mutations]

    @cached_property
    def seen(self) -> NDArray[np.float64]:
        """float64, shape (n,): part of the cells with a value in which each mutation is seen; 0 for none.

        With evidence, those in which it is more likely than not, of those of which something is known.
        """
        return np.asarray(self.pair_counts.seen / np.maximum(self.pair_counts.observed, 1))

    @property
    def descent(self) -> NDArray[np.float64]:
        """float64, shape (clones,): least probability that the parent's mutations are before the clone's.

        It is NaN for the root and for clones below it.
        """
        return descents_of(self.tree, self.relations)

    @cached_property
    def rarely_seen(self) -> list[int]:
        """Rows of the mutations that fewer cells show than those of their clone should, not of open ones."""
        of_cells, is_open = self.cells.mixture.of_cells, {one for of in self.open_mutations for one in of}
        known = observed_states(self.placed) != MISSING
        counts = self.pair_counts
        found = rarely_seen_in(self.tree, of_cells, known, counts, self.call_rates, self.fn_rates)
        return [one for one in found if one not in is_open]

    @cached_property
    def contradictions(self) -> list[Contradiction]:
        """Claims on pairs of mutations that the cells contradict, most cells first; not those kept back."""
        evident = evident_in(self.placed, self.rates)
        found = contradictions_in(
            self.relations, self.pair_counts, self.call_rates, self.fn_rates, evident, self.doublets
        )
        return [one for one in found if one not in self.kept_back]

    @cached_property
    def conflicts(self) -> list[Conflict]:
        """Probable claims of the consensus that the most likely tree contradicts, on observed pairs."""
        found = conflicts_in(self.tree, clone_tree_of(self.likely), self.relations, self.placed)
        nothing = self.unobserved
        return [one for one in found if nothing is None or not nothing[one.first, one.second]]

    @cached_property
    def improbable(self) -> list[Improbable]:
        """Claims that fewer than half of the samples share, the least probable first."""
        return improbable_claims(self.tree, self.relations, self.unobserved)

    @property
    def warnings(self) -> list[str]:
        """Messages: claims that something contradicts, and cells that differ in dropout."""
        return [*claim_warnings(self), *quality_warnings(self.spread)]

    @cached_property
    def spread(self) -> Spread | None:
        """How much the cells differ in dropout; None if it is not known, as with doublets or evidence."""
        if self.cells.doublets is not None or not isinstance(self.rates, Rates):
            return None
        unions = np.array([bool(of) for of in self.open_mutations])[self.tree.clone_of]
        return spread_of_dropout(self.tree, self.placed, self.call_rates, self.fn_rates, unions)

    @property
    def misfits(self) -> list[str]:
        """Names of the cells that fit nowhere."""
        return [self.cell_names[cell] for cell in np.flatnonzero(~self.cells.fits).tolist()]

    @property
    def words(self) -> list[str]:
        """Lines of text: numbers of clones, of misfits and sure cells, agreement with the true tree."""
        clones, misfits, left = self.tree.clones - 1, len(self.misfits), len(self.unplaced.mutations)
        others = f", {left} {UNPLACED_MARK}" if left else ""
        lines = [
            f"consensus of the samples: {counted(len(self.mutations), 'mutation', 'mutations')} in "
            f"{counted(clones, 'clone', 'clones')}{others}, "
            f"{part_of(misfits, len(self.cell_names), 'cell fits', 'cells fit')} none of them, and "
            f"{self.cells.sure_words}"
        ]
        if few := [one.words(self.mutations) for one in self.improbable]:
            claims = np.triu(self.tree.before | self.tree.before.T | self.tree.apart)
            if self.unobserved is not None:
                claims &= ~self.unobserved
            of_all = part_of(len(few), int(claims.sum()), "claim", "claims")
            lines.append(
                f"{of_all} on pairs of mutations, which others imply, {'has' if len(few) == 1 else 'have'} a "
                f"probability below 0.5: {listed(few, 3)}"
            )
        for name, one in (self.truth or {}).items():
            precision, recall = (rate_text(one.rates[rate]) for rate in ("precision", "recall"))
            lines.append(f"its {name:9}  precision {precision}  recall {recall}")
        return lines

    def seeding(self, cells: Collection[str]) -> dict[str, float]:
        """Return for each mutation the probability that exactly some cells have it, by falling probability.

        Unplaced mutations and cells are left out. It is a mean over up to 1000 sampled trees, with the shares
        of the cells at their nodes if these were sampled (`seeding_probabilities`).

        Args:
            cells: names of cells.

        Raises:
            MatrixError: a cell is not in the matrix, or is unplaced.
        """
        unknown = [cell for cell in cells if cell not in self.cell_names]
        if unknown and unknown[0] in self.matrix.named_cells:
            raise MatrixError(
                f"the cell {unknown[0]!r} is {UNPLACED_MARK}", hint="leave it out: nothing is known of it"
            )
        if unknown:
            raise MatrixError(
                f"the matrix has no cell {unknown[0]!r}",
                hint="take names of cells as in the result's `cells`",
            )
        inside = np.isin(self.cell_names, list(cells))
        trees: Iterable[NDArray[np.int32]]
        if self.shared is None:
            trees, shares = spaced_trees(self.sampled, self.relations.samples, SEEDING_TREES), None
        else:
            trees, shares = self.shared
        found = seeding_probabilities(trees, self.placed, self.rates, inside, self.fn_rates, shares)
        order = np.argsort(-found, kind="stable").tolist()
        return {self.mutations[mutation]: float(found[mutation]) for mutation in order}

    def relation(self, first: str, second: str) -> PairRelation:
        """Return the relation of two placed mutations, by their names, as in ``relations.tsv``.

        Raises:
            MatrixError: a mutation is not in the matrix, or is unplaced.
        """
        one, two = (self._number_of(name) for name in (first, second))
        return relation_of(self.tree, self.relations, self.pair_counts, self.unobserved, one, two)

    def _number_of(self, mutation: str) -> int:
        """Return the number of a placed mutation, by its name."""
        if mutation in self.mutations:
            return self.mutations.index(mutation)
        if mutation in self.unplaced_mutations:
            raise MatrixError(f"the mutation {mutation!r} is {UNPLACED_MARK}", hint="it has no relation")
        raise MatrixError(f"the matrix has no mutation {mutation!r}", hint="take names of `mutations`")

    def with_cells(self, specimens: SpecimenShares | None) -> CloneConsensus:
        """Return the same for cells that may be doublets, or are of several specimens.

        Args:
            specimens: shares in specimens, each of which has its own; None if all cells are of one.
        """
        if self.doublets is None:
            return replace(self, cells=replace(self.cells, specimens=specimens))
        cells = cells_on(self.tree, self.placed, self.rates, self.fn_rates, self.doublets, specimens)
        return replace(self, cells=cells)

    def to_newick(self) -> str:
        """Return the clone tree in Newick format, with the support of its clones."""
        return clone_newick(self.tree, self.mutations, self.support, len(self.unplaced.mutations))

    def to_clones(self) -> str:
        """Return the table of clones: tab-separated."""
        return clones_table(
            self.clone_records, self.unplaced_mutations, len(self.unplaced.cells), self.cells.joint
        )

    def to_relations(self) -> str:
        """Return the table of pairs of mutations: tab-separated."""
        return relations_table(
            self.tree,
            self.relations,
            self.pair_counts,
            self.mutations,
            self.unplaced_mutations,
            self.unobserved,
        )

    def to_cells(self) -> str:
        """Return the table of cells: tab-separated."""
        names = self.matrix.named_cells
        return cells_table(self.cells, names, self.unplaced.cells, self.labels)

    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name."""
        texts = (self.to_newick(), self.to_clones(), self.to_relations(), self.to_cells())
        return dict(zip(FILES, texts, strict=True))

    def to_dict(self) -> JsonObject:
        """Return the main numbers as plain values for JSON."""
        truth = {
            name: {**asdict(one), "precision": one.rates["precision"], "recall": one.rates["recall"]}
            for name, one in (self.truth or {}).items()
        }
        clone_of: list[int | None] = [None] * self.matrix.n_mutations
        rows = self.unplaced.placed_mutations(self.matrix.n_mutations).tolist()
        for row, clone in zip(rows, self.tree.clone_of.tolist(), strict=True):
            clone_of[row] = clone
        return {
            "samples": self.relations.samples,
            "clones": self.tree.clones - 1,
            "clone_of": clone_of,
            "parents": self.tree.parents.tolist(),
            "thresholds": {"before": self.thresholds.before, "apart": self.thresholds.apart},
            "gain": self.gain,
            "misfits": self.misfits,
            "contradicted": [one.to_dict(self.mutations) for one in self.contradictions],
            "conflicts": [one.to_dict(self.mutations) for one in self.conflicts],
            "improbable": [one.to_dict(self.mutations) for one in self.improbable],
            **(
                {"kept_back": [one.to_dict(self.mutations) for one in self.kept_back]}
                if self.kept_back
                else {}
            ),
            **({"set_aside": [one._asdict() for one in self.set_aside]} if self.set_aside else {}),
            **({"joint": [one.to_dict() for one in self.cells.joint]} if self.cells.joint else {}),
            **({} if self.unobserved is None else {"unobserved_pairs": len(self.unobserved_pairs)}),
            **({"true_tree": truth} if truth else {}),
        }
