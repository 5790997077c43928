"""Findings: the parts of an answer. Each says which files it writes, and what it shows and warns of.

A finding is a value with one shape (`Finding`), in one module, and has one row in `registry.py`. Summary,
files, lines of the command, report and AnnData are loops over the findings of a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from syclade.host.findings.draft import Draft
    from syclade.host.findings.kinds.kind import TreeKind
    from syclade.host.findings.samples.diagnostics import Trust
    from syclade.host.ground.atomic import Content
    from syclade.host.ground.options import Options

__all__ = [
    "CELLS",
    "MUTATIONS",
    "RESULT",
    "Column",
    "Finding",
    "FindingKind",
    "Question",
    "Section",
    "Table",
    "cut",
    "no_files",
    "sentence",
]

MOST_ROWS = 200
"""Maximum number of rows of a table of the report; the files beside it have all rows."""

CELLS, MUTATIONS, RESULT = "cells", "mutations", "result"
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
        of: CELLS, MUTATIONS or RESULT.
        name: name of the column.
        values: a value for each cell or mutation, in the order of the matrix; or one of the result.
        categories: the names that values may be; None for numbers.
    """

    of: str
    name: str
    values: Sequence[Any] | NDArray[Any]
    categories: Sequence[str] | None = None


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
    """Part of an answer. A finding overrides what it has to say."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def files(self) -> dict[str, Content]:
        """Return the contents of its files, by name."""
        return {}

    def summary(self) -> dict[str, Any]:
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
        """Return what it adds to tables of cells, of mutations and of results."""
        return []


@dataclass(frozen=True)
class FindingKind:
    """Kind of findings: a row of the registry.

    Attributes:
        name: name of the findings.
        make: (draft of the answer) -> the finding; None if there is nothing to tell.
        promises: (question) -> names of the files that it may write.
    """

    name: str
    make: Callable[[Draft], Finding | None]
    promises: Callable[[Question], Iterable[str]]


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
