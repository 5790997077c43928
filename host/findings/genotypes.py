"""Genotypes of cells as a finding: which mutations each cell has, by the published tree, and how probably."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.reads import observed_states
from syclade.host.findings.doublets import genotypes_of
from syclade.host.findings.finding import ENTRIES, Column, Finding, Question, Section, made_by_stage, sentence
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import JsonObject, counted, freeze_arrays, short_repr

if TYPE_CHECKING:
    from syclade.host.findings.consensus.cells import CloneCells
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.consensus.finding import PublishedTree
    from syclade.host.findings.finding import BestTree
    from syclade.host.findings.specimen_shares import ShareDraws
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = [
    "FILES", "GENOTYPES", "Genotypes", "GenotypesFinding", "OfSpecimens", "consensus_genotypes",
    "make_genotypes",
]  # fmt: skip

FILES = ("genotypes.tsv", "genotypes.CFMatrix", "clone_genotypes.tsv", "genotype_probabilities.tsv")
"""Names of the files."""

UNKNOWN = 3
"""Genotype of an unplaced mutation or cell: that of a missing value."""

MOST_TREES, FEWEST_TREES, _WORK, _PAIR_COST = 200, 20, 2**27, 24
"""Sampled trees, evenly spaced, of which probabilities are means; most probabilities in all of them, unless
the fewest trees have more; and how many times as long those with doublets take."""

_CALLED = 0.5
"""Probability above which a cell has a mutation, or is called a doublet."""

_SURE = 0.95
"""Least probability of a genotype of a mutation that was not measured in the cell's specimen."""


@dataclass(frozen=True, eq=False)
class Genotypes:
    """Genotypes of the cells of a matrix.

    Attributes:
        mutations, cells: names, in the order of the matrix.
        called: uint8, shape (n, cells): 1 where the cell has the mutation with a probability above 0.5 over
            sampled trees, 0 where not, 3 for unplaced mutations and cells, and for mutations of which the
            cell's specimen has no value unless the probability is beyond 0.05 or 0.95, and where only a
            relation of which no cell tells implies it; without samples, `by_tree`.
        by_tree: uint8, of the same shape: genotypes by the published tree, each cell with the mutations of
            its most probable clone. So they contradict no tree, but have a few more errors.
        doublet: bool, shape (cells,): cells that are called doublets, with the mutations of two clones.
        single_tree: whether single cells are of one tree without a recurrent mutation.
        clones: bool, shape (clones, placed): mutations of each clone; None for trees without clones.
        placed: names of the placed mutations.
        probability: float64, shape (n, cells): probability that the cell has the mutation, over sampled
            trees, NaN for unplaced ones; None without samples.
        observed: uint8, shape (n, cells): the matrix; with evidence, what is more likely (`observed_states`).
    """

    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    called: NDArray[np.uint8]
    by_tree: NDArray[np.uint8]
    doublet: NDArray[np.bool_]
    single_tree: bool
    clones: NDArray[np.bool_] | None
    placed: tuple[str, ...]
    probability: NDArray[np.float64] | None
    observed: NDArray[np.uint8]

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        arrays = ("called", "by_tree", "doublet", "clones", "probability")
        freeze_arrays(self, [name for name in arrays if getattr(self, name) is not None])

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def to_table(self) -> str:
        """Return the table of genotypes, a line for each cell: tab-separated."""
        return _table("cell", self.cells, self.mutations, _digits(self.called.T))

    def to_cf_matrix(self) -> str:
        """Return the conflict-free matrix in scphylo-tools' form, without doublets and what is unplaced."""
        placed = self.by_tree != UNKNOWN
        rows, columns = (np.flatnonzero(placed.any(axis=axis)) for axis in (1, 0))
        columns = columns[~self.doublet[columns]]
        mutations = [self.mutations[row] for row in rows.tolist()]
        cells = [self.cells[column] for column in columns.tolist()]
        return _table("cellIDxmutID", cells, mutations, _digits(self.by_tree[np.ix_(rows, columns)].T))

    def to_clones(self) -> str:
        """Return the table of the clones' genotypes, a line for each clone: tab-separated."""
        assert self.clones is not None
        numbers = [str(clone) for clone in range(len(self.clones))]
        return _table("clone", numbers, self.placed, _digits(self.clones))

    def to_probabilities(self) -> str:
        """Return the table of probabilities, a line for each cell: tab-separated, empty for unplaced ones."""
        assert self.probability is not None
        texts = (["" if one != one else f"{one:.4g}" for one in row] for row in self.probability.T.tolist())
        return _table("cell", self.cells, self.mutations, texts)

    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name."""
        texts: dict[str, Content] = {FILES[0]: self.to_table()}
        if self.single_tree:
            texts[FILES[1]] = self.to_cf_matrix()
        if self.clones is not None:
            texts[FILES[2]] = self.to_clones()
        if self.probability is not None:
            texts[FILES[3]] = self.to_probabilities()
        return texts

    def to_dict(self) -> JsonObject:
        """Return the numbers of entries as plain values for JSON."""
        mutated, not_seen, missing, against = self._numbers
        return {
            "mutated": mutated,
            "not_seen": not_seen,
            "missing": missing,
            "seen_against_tree": against,
            "unknown": int((self.called == UNKNOWN).sum()),
            "doublets": int(self.doublet.sum()),
        }

    @property
    def _numbers(self) -> tuple[int, int, int, int]:
        """Numbers of mutated entries, of those observed as 0 and missing, and of observed ones against it."""
        seen, has = np.isin(self.observed, (1, 2)), self.called == 1
        none, missing = has & (self.observed == 0), has & (self.observed == 3)
        return int(has.sum()), int(none.sum()), int(missing.sum()), int((seen & (self.called == 0)).sum())

    @property
    def words(self) -> str:
        """Line of text: how the genotypes differ from the observed values."""
        (mutated, not_seen, missing, against), two = self._numbers, int(self.doublet.sum())
        doublets = f"; {counted(two, 'cell is', 'cells are')} two" if two else ""
        return (
            f"genotypes: {mutated} of {self.called.size} entries are mutated, of which "
            f"{counted(not_seen, 'was', 'were')} observed as 0 and {counted(missing, 'is', 'are')} missing; "
            f"{counted(against, 'observed mutation is', 'observed mutations are')} not in "
            f"the tree{doublets}"
        )


def _digits(values: NDArray[np.uint8] | NDArray[np.bool_]) -> Iterable[Sequence[str]]:
    """Return the digits of the rows of a table."""
    return ("".join(map(str, row)) for row in values.astype(np.uint8).tolist())


def _table(corner: str, names: Sequence[str], columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the text of a table with the names of its rows in the first column."""
    return tsv_text((corner, *columns), ((name, *row) for name, row in zip(names, rows, strict=True)))


def consensus_genotypes(
    cells: CloneCells, has: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the genotypes of placed cells, (n, cells), and which of them are called doublets, (cells,).

    Args:
        cells: the cells on the clones.
        has: bool, shape (clones, n): the mutations of each clone.
    """
    found, both = has[cells.best].T, np.zeros(len(cells.best), dtype=np.bool_)
    if cells.doublets is not None:
        pairs, both = cells.doublets, np.asarray(cells.doublets.probability > _CALLED)
        found = np.where(both, (has[pairs.first] | has[pairs.second]).T, found)
    return found, both


class OfSpecimens(NamedTuple):
    """Shares of nodes in specimens.

    Attributes:
        draws: draws of them.
        specimen_of: int64: specimen of each placed cell; -1 for none.
    """

    draws: ShareDraws
    specimen_of: NDArray[np.int64]


def make_genotypes(
    best: BestTree,
    consensus: CloneConsensus | None,
    published: PublishedTree | None,
    unplaced: Unplaced,
    specimens: OfSpecimens | None = None,
) -> Genotypes:
    """Return the genotypes of all cells.

    Args:
        best: the most likely tree, whose genotypes are taken if there is no consensus.
        consensus: the consensus; None without samples.
        published: the published tree with its samples; None for cell trees, and with a recurrent mutation.
        unplaced: mutations and cells that have no genotype.
        specimens: shares in specimens; None if all cells are of one.
    """
    matrix, copied = best.observed, best.assignment.recurrence is not None
    rows, columns = unplaced.placed_mutations(matrix.n_mutations), unplaced.placed_cells(matrix.n_cells)
    doublet, probability, clones = np.zeros(matrix.n_cells, dtype=np.bool_), None, None
    if published is not None:
        clones = published.tree.within[published.tree.clone_of].T
    if consensus is None:
        own = genotypes_of(best.kind, best.tree)[np.ix_(rows, columns)]
        if best.assignment.doublets is not None:
            doublet[columns] = best.assignment.doublets.probability[columns] > _CALLED
    else:
        assert published is not None
        assert clones is not None
        own, doublet[columns] = consensus_genotypes(consensus.cells, clones)
        probability = np.full(matrix.values.shape, np.nan)
        probability[np.ix_(rows, columns)] = probabilities_of(published, specimens)
    by_tree = np.full(matrix.values.shape, UNKNOWN, dtype=np.uint8)
    by_tree[np.ix_(rows, columns)] = own
    called = by_tree
    if probability is not None:
        called = np.where(np.isnan(probability), UNKNOWN, probability > _CALLED).astype(np.uint8)
        if specimens is not None:
            assert published is not None
            open_entries = np.maximum(probability, 1.0 - probability) < _SURE
            silent = np.zeros(called.shape, dtype=np.bool_)
            silent[np.ix_(rows, columns)] = _unmeasured(published.gains, specimens.specimen_of)
            called[open_entries & silent] = UNKNOWN
        if consensus is not None and consensus.unobserved is not None:
            assert published is not None
            placed = np.ix_(rows, columns)
            called[placed] = np.where(
                _by_no_finding(consensus, published.gains, probability[placed]), UNKNOWN, called[placed]
            )
    count = matrix.n_mutations - copied  # the last one is the copy of a recurrent mutation
    return Genotypes(
        mutations=best.mutations[:count],
        cells=best.cells,
        called=called[:count],
        by_tree=by_tree[:count],
        doublet=doublet,
        single_tree=not copied,
        clones=clones,
        placed=tuple(best.mutations[row] for row in rows.tolist()),
        probability=probability,
        observed=observed_states(matrix)[:count],
    )


def _unmeasured(gains: NDArray[np.float64], specimen_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether no cell of a cell's specimen has a value of a mutation: bool, shape (n, cells)."""
    found = np.zeros(gains.shape, dtype=np.bool_)
    for specimen in np.unique(specimen_of).tolist():
        own = np.flatnonzero(specimen_of == specimen)
        found[:, own] = ~gains[:, own].any(axis=1, keepdims=True)
    return found


def _by_no_finding(
    consensus: CloneConsensus, gains: NDArray[np.float64], probability: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return the missing genotypes that only a relation of which no cell tells implies: bool, (n, cells)."""
    from syclade.host.findings.consensus.relations import follow_from_others

    tree, unobserved = consensus.tree, consensus.unobserved
    assert unobserved is not None
    missing = unobserved.any(axis=1)[:, np.newaxis] & (gains == 0.0)
    together = tree.clone_of[:, np.newaxis] == tree.clone_of
    np.fill_diagonal(together, False)
    for one in consensus.kept_back:
        together[[one.first, one.second], [one.second, one.first]] = False
    before, apart, together = (of & ~unobserved for of in (tree.before, tree.apart, together))
    has, lacks = (~missing & (of > _SURE) for of in (probability, 1.0 - probability))
    return np.asarray(missing & ~follow_from_others(before, apart, together, has, lacks))


def probabilities_of(published: PublishedTree, specimens: OfSpecimens | None = None) -> NDArray[np.float64]:
    """Return the probability that each placed cell has each placed mutation: float64, shape (n, cells).

    In a sampled tree, a cell is at a node with the probability of its likelihood there times the node's
    share of the cells of its specimen, if shares were sampled; it has the mutations at and above the node.
    The mean over trees, and over draws of the shares in specimens, counts.
    """
    from syclade.host.data.model.likelihood import presence
    from syclade.host.data.model.pairs import pair_presence

    _, _, gains, trees, shares, doublets, _ = published
    most = _WORK // (gains.size * (1 if doublets is None else _PAIR_COST))
    drawn = np.arange(len(trees)) if specimens is None else specimens.draws.trees
    count = min(len(drawn), max(FEWEST_TREES, min(MOST_TREES, most)))
    groups = {-1: np.arange(gains.shape[1])}
    if specimens is not None:
        of = specimens.specimen_of
        groups = {one: np.flatnonzero(of == one) for one in np.unique(of).tolist()}
    total = np.zeros(gains.shape)
    for at in (np.arange(count) * len(drawn) // count).tolist():
        tree = drawn[at]
        for specimen, cells in groups.items():
            own = None if shares is None else shares[tree]
            if specimens is not None and specimen >= 0:
                own = np.maximum(specimens.draws.nodes[at, specimen], np.finfo(float).tiny)
            if doublets is None:
                total[:, cells] += presence(gains[:, cells], trees[tree], own)[0]
            else:
                total[:, cells] += pair_presence(trees[tree], gains[:, cells] / np.log(2.0), own, doublets)
    return np.asarray(np.clip(total / count, 0.0, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class GenotypesFinding(Finding):
    """Genotypes of the cells."""

    name = "genotypes"
    genotypes: Genotypes

    def files(self) -> dict[str, Content]:
        """Return genotypes, those of clones, and probabilities."""
        return self.genotypes.files()

    def summary(self) -> JsonObject:
        """Return the numbers of entries."""
        return {"genotypes": self.genotypes.to_dict()}

    @property
    def lines(self) -> list[str]:
        """How the genotypes differ from the matrix."""
        return [self.genotypes.words]

    def section(self) -> Section:
        """Return how the genotypes differ from the matrix."""
        return Section("Genotypes", (sentence(self.genotypes.words),))

    def columns(self) -> list[Column]:
        """Return the genotypes; 3 is unknown."""
        return [Column(ENTRIES, "genotype", self.genotypes.called)]


def _names(question: Question) -> Iterable[str]:
    return FILES if question.options.genotypes else ()


GENOTYPES = made_by_stage(GenotypesFinding, _names)
