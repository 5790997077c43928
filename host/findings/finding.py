"""Findings: the parts of an answer. Each says which files it writes, and what it shows and warns of.

A finding is a value with one shape (`Finding`), in one module, and one row in `answer/stages.py`. Summary,
files, lines of the command, report and AnnData are loops over the findings of a result. A finding is made
from the `Draft` of an answer: the most likely tree, and what the stages of a run found about it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import Array, Json, JsonObject, short_repr

if TYPE_CHECKING:
    from syclade.host.chains.runs.context import Found
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.assignment import Assignment
    from syclade.host.data.model.rates import ObservationModel
    from syclade.host.data.trees.cells import Clone
    from syclade.host.device.work import WorkDone
    from syclade.host.findings.kinds import Tree, TreeKind
    from syclade.host.findings.samples.diagnostics import Trust
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content
    from syclade.host.ground.options import Options

__all__ = [
    "CELLS",
    "ENTRIES",
    "MUTATIONS",
    "RESULT",
    "SURE",
    "BestTree",
    "CloneShares",
    "Column",
    "Draft",
    "Finding",
    "FindingKind",
    "Question",
    "Section",
    "Table",
    "cut",
    "made_by_stage",
    "no_files",
    "sentence",
]


F = TypeVar("F", bound="Finding")

SURE = 0.8
"""Probability from which a part of an answer, such as an edge, a clade or a cell, counts as sure."""


@dataclass(frozen=True, eq=False)
class BestTree:
    """The most likely tree that a run found, and what it was inferred from.

    Attributes:
        kind: kind of the tree.
        parents: int32, shape (nodes,): parent of every node.
        log_likelihood: natural log, float64, recomputed from counts of events.
        assignment: the best place of each cell, or of each mutation of a cell tree.
        mutations, cells: names, in the order of the matrix.
        rates: the error rates, or the levels of evidence.
        observed: the matrix.
        score: name of the score of the log-likelihood.
        learned: value and prior of each learned rate, and `log_prior`; None if no rate was learned.
    """

    kind: TreeKind
    parents: NDArray[np.int32]
    log_likelihood: float
    assignment: Assignment
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    rates: ObservationModel
    observed: Matrix
    score: str
    learned: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def labels(self) -> list[str]:
        """Labels of the nodes."""
        return self.kind.labels(self.mutations, self.cells)

    @property
    def testable(self) -> bool:
        """Return whether all mutations can be tested for recurrence, which takes calls."""
        return self.observed.evidence is None

    @property
    def tree(self) -> Tree:
        """The tree with its names and its assignment."""
        from syclade.host.findings.kinds import Tree  # the help of commands needs no trees

        return Tree(self.parents, self.mutations, self.cells, self.assignment)


@dataclass(eq=False)
class Draft:
    """An answer while it is made: its stages add what they find.

    Attributes:
        best: the most likely tree.
        found: the output of the chains or searches.
        estimated: names of the error rates that were estimated from the matrix.
        true_tree: int32, shape (n + 1,): parent vector of the true tree; None if it was not given.
        unplaced: mutations and cells of which the matrix, or the samples, say nothing.
        work: work of each executor, in order.
        seconds: wall time of chains and searches.
        stopped_in: first stage that a stop request has cut short or left out; None for none.
        findings: findings that the stages have made, by their types.
        stages: wall time of each stage that has ended, in seconds, in order.
    """

    best: BestTree
    found: Found
    estimated: tuple[str, ...]
    true_tree: NDArray[np.int32] | None
    unplaced: Unplaced
    work: tuple[WorkDone, ...]
    seconds: float
    stopped_in: str | None = None
    findings: dict[type[Finding], Finding] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure the time of a stage."""
        begun = time.perf_counter()
        yield
        self.stages[stage] = self.stages.get(stage, 0.0) + time.perf_counter() - begun

    def add(self, finding: Finding) -> None:
        """Add what a stage found, in place of an earlier finding of its type."""
        self.findings[type(finding)] = finding

    def get(self, kind: type[F]) -> F | None:
        """Return the finding of a type that a stage has made; None if there is none."""
        found = self.findings.get(kind)
        return found if isinstance(found, kind) else None

    def stop(self, stage: str) -> None:
        """Note that a stop request came in a stage; an earlier one remains."""
        self.stopped_in = self.stopped_in or stage

    @property
    def settled(self) -> bool:
        """Return whether the tree is one that searches found, or that chains agree on."""
        return bool(self.found.searches) or bool(self.found.outcome.converged)


MOST_ROWS = 200
"""Maximum number of rows of a table of the report; the files beside it have all rows."""

CELLS, MUTATIONS, ENTRIES, RESULT = "cells", "mutations", "entries", "result"
"""Items that a column can belong to."""


class Table(NamedTuple):
    """A table of the report.

    Attributes:
        head: titles of the columns.
        rows: texts of the cells of the table, by row.
        more: number of rows left out.
    """

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int = 0


class Section(NamedTuple):
    """A section of the report.

    Attributes:
        title: heading of the section.
        words: paragraphs.
        table: table below the paragraphs.
        warnings: warnings above the paragraphs.
        traced: samples whose log-likelihoods are drawn between paragraphs and table; None for no picture.
    """

    title: str
    words: tuple[str, ...] = ()
    table: Table | None = None
    warnings: tuple[str, ...] = ()
    traced: Trust | None = None


class Column(NamedTuple):
    """A column that a finding adds to tables: those of an AnnData, or that of MultiQC with a row a result.

    Attributes:
        of: CELLS, MUTATIONS, ENTRIES or RESULT.
        name: name of the column.
        values: a value, or an array of some, for each cell or mutation, in the order of the matrix; an array
            of the shape of the matrix; or one value of the result.
        categories: the names that values may be; None for numbers.
        label: where a label of cells is from: a user's table, or the matrix. Empty for what is inferred.
    """

    of: str
    name: str
    values: Sequence[Json] | Array
    categories: Sequence[str] | None = None
    label: Literal["", "table", "matrix"] = ""


class CloneShares(NamedTuple):
    """Share of some trees that have each clone of a tree.

    Attributes:
        shares: the share of each clone; None where there is nothing to share.
        of: description of the trees.
    """

    shares: list[float | None]
    of: str


class Question(NamedTuple):
    """Question of a run, as far as its files follow from it.

    Attributes:
        kind: kind of the trees.
        options: the options.
        support: level of support: quick, full or none.
    """

    kind: TreeKind
    options: Options
    support: str

    @property
    def samples_trees(self) -> bool:
        """Return whether trees are sampled, by the user's chains or for support."""
        return self.options.samples is not None or self.support != "none"


class Finding:
    """Part of an answer. A finding overrides the methods that apply to it."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def files(self) -> dict[str, Content]:
        """Return the contents of its files, by name."""
        return {}

    def summary(self) -> JsonObject:
        """Return its entries of summary.json: plain values, the same for equal runs on any device."""
        return {}

    @property
    def lines(self) -> list[str]:
        """Lines on the terminal."""
        return []

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt it, or the tree."""
        return []

    def section(self) -> Section | None:
        """Return its section of the report; None for none."""
        return None

    def columns(self) -> list[Column]:
        """Return the columns that it adds to tables of cells, of mutations and of results."""
        return []

    def clone_shares(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> CloneShares | None:
        """Return how sure the clones of the most likely tree are, for pictures; None if it has no shares.

        Args:
            parents: the tree.
            clones: its clones.
            unplaced: mutations and cells that the shares leave out.
        """
        return None


@dataclass(frozen=True)
class FindingKind:
    """Kind of findings: a row of the list of all (`host/answer/stages.py`).

    Attributes:
        name: name of the findings.
        make: (draft of the answer) -> the finding; None if there is none.
        promises: (question) -> names of the files that it may write.
    """

    name: str
    make: Callable[[Draft], Finding | None]
    promises: Callable[[Question], Iterable[str]]


def made_by_stage(finding: type[Finding], promises: Callable[[Question], Iterable[str]]) -> FindingKind:
    """Return the kind of findings that a stage of the run makes and adds to the draft.

    Args:
        finding: their type.
        promises: as in `FindingKind`.
    """
    return FindingKind(finding.name, lambda draft: draft.get(finding), promises)


def no_files(_question: Question) -> tuple[str, ...]:
    """Return no names: the finding writes no files."""
    return ()


def sentence(words: str) -> str:
    """Return a line or a warning as a sentence of the report."""
    return f"{words[0].upper()}{words[1:]}."


def cut(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    """Return a table of the first rows."""
    everything = list(rows)
    return Table(head, everything[:MOST_ROWS], max(0, len(everything) - MOST_ROWS))
