"""Checks of a matrix: mutations and cells that options leave out, and warnings of what looks wrong.

Mutations and cells are left out by their names, a pipeline's marks, or their observations. A matrix may show
signs of a wrong input: rows that are cells, mutations in nearly all cells.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.matrix import LeftOut, Marks, Matrix
from syclade.host.data.input.names import chosen_mutations, near_names
from syclade.host.data.model.reads import observed_states, states_before_run
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, listed

__all__ = [
    "FILE",
    "IN_NEARLY_ALL",
    "Limits",
    "left_out_table",
    "left_out_words",
    "limited",
    "warned",
]

logger = logging.getLogger("syclade.input")

FILE = "left_out.tsv"
"""Name of the file of what was left out."""

COLUMNS = ("kind", "name", "number", "reason")
"""Columns of left_out.tsv: mutation or cell; its name; its row or column in the file, from 1; the reason."""

MISSING = 3


class Limits(NamedTuple):
    """Options that leave out mutations by name, and mutations and cells by observations; None for no limit.

    Attributes:
        excluded: names of mutations, or genes with which names begin.
        if_present: whether the matrix need not have all of these.
        min_cells: fewest cells in which a mutation is seen.
        max_missing_mutation: largest part of the cells in which a mutation may be missing.
        max_missing_cell: largest part of the mutations that a cell may miss.
    """

    excluded: tuple[str, ...] = ()
    min_cells: int | None = None
    max_missing_mutation: float | None = None
    max_missing_cell: float | None = None
    if_present: bool = False


class _Rest:
    """Rest of a matrix: its rows and columns, while some are left out."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix, self._states = matrix, observed_states(matrix)
        self.rows, self.columns = np.arange(matrix.n_mutations), np.arange(matrix.n_cells)
        self.out: list[LeftOut] = []

    @property
    def states(self) -> NDArray[np.uint8]:
        """The values that are left, uint8; with evidence, what it says of them (`observed_states`)."""
        return np.asarray(self._states[np.ix_(self.rows, self.columns)])

    def drop_mutations(self, which: NDArray[np.bool_], reason: str) -> None:
        """Leave out some of the mutations that are left."""
        names = self._matrix.mutations
        self.out += [LeftOut("mutation", names[row], row + 1, reason) for row in self.rows[which].tolist()]
        self.rows = self.rows[~which]

    def drop_cells(self, which: NDArray[np.bool_], reason: str) -> None:
        """Leave out some of the cells that are left."""
        names = self._matrix.named_cells
        self.out += [LeftOut("cell", names[at], at + 1, reason) for at in self.columns[which].tolist()]
        self.columns = self.columns[~which]

    def remaining(self) -> Matrix:
        """Return the matrix of what is left; cells without names have those of their numbers in the file."""
        if not self.out:
            return self._matrix
        if not len(self.rows) or not len(self.columns):
            raise MatrixError(
                f"nothing is left: {left_out_words(self.out)}",
                path=None if self._matrix.source == "array" else self._matrix.source,
                hint="leave fewer mutations and cells out",
            )
        names = self._matrix.named_cells
        return replace(
            self._matrix,
            values=np.ascontiguousarray(self._matrix.values[np.ix_(self.rows, self.columns)]),
            mutations=tuple(self._matrix.mutations[row] for row in self.rows.tolist()),
            cells=tuple(names[column] for column in self.columns.tolist()),
            labels={
                name: tuple(texts[column] for column in self.columns.tolist())
                for name, texts in self._matrix.labels.items()
            },
            left_out=(*self._matrix.left_out, *self.out),
            evidence=None
            if (known := self._matrix.evidence) is None
            else known.taken(self.rows, self.columns),
        )


def limited(matrix: Matrix, limits: Limits, marks: Marks) -> Matrix:
    """Return the matrix without what the marks and limits leave out, in this order.

    First go mutations by name, then what is marked, then mutations that are missing in too many cells, cells
    that miss too many of the other mutations, and mutations that are seen in too few of the other cells. With
    evidence, an entry counts by what it says.

    Args:
        matrix: the matrix.
        limits: limits of what stays.
        marks: what is marked.

    Raises:
        OptionError: no mutation has a name.
        MatrixError: nothing is left.
    """
    rest = _Rest(matrix)
    rest.drop_mutations(_named(limits, matrix), f"named by {flag_of('exclude_mutations')}")
    if marks.mutations is not None:
        rest.drop_mutations(marks.mutations[rest.rows], marks.mutation_reason)
    if marks.cells is not None:
        rest.drop_cells(marks.cells, marks.cell_reason)
    if (most := limits.max_missing_mutation) is not None and rest.states.size:
        missing = (rest.states == MISSING).mean(axis=1) > most
        rest.drop_mutations(missing, f"missing in more than {most:g} of the cells")
    if (most := limits.max_missing_cell) is not None and rest.states.size:
        missing = (rest.states == MISSING).mean(axis=0) > most
        rest.drop_cells(missing, f"missing more than {most:g} of the mutations")
    if limits.min_cells is not None:
        states = states_before_run(rest.remaining())
        seen = ((states == 1) | (states == 2)).sum(axis=1)
        rest.drop_mutations(
            seen < limits.min_cells, f"seen in fewer than {counted(limits.min_cells, 'cell', 'cells')}"
        )
    return rest.remaining()


def _named(limits: Limits, matrix: Matrix) -> NDArray[np.bool_]:
    """Return whether each mutation is excluded by name; raise an OptionError for a name of none."""
    chosen, unknown = chosen_mutations(limits.excluded, matrix.mutations)
    if unknown and not limits.if_present:
        near = near_names(unknown[0], matrix.mutations)
        raise OptionError(
            f"{flag_of('exclude_mutations')}: no mutation is named {listed(unknown)}",
            hint=f"near names: {listed(near)}" if near else f"names are such as {listed(matrix.mutations)}",
        )
    wanted = set(chosen)
    return np.array([name in wanted for name in matrix.mutations], dtype=np.bool_)


def left_out_words(left_out: Sequence[LeftOut]) -> str:
    """Return the counts and some names for each reason as text."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        groups.setdefault((one.kind, one.reason), []).append(one.name)
    return ", ".join(
        f"{counted(len(names), kind, f'{kind}s')} {reason} ({listed(names)})"
        for (kind, reason), names in groups.items()
    )


def left_out_table(left_out: Sequence[LeftOut]) -> str:
    """Return the text of left_out.tsv: a line with `COLUMNS`, then one for each mutation and cell."""
    return tsv_text(COLUMNS, left_out)


IN_NEARLY_ALL, _FEWEST_CELLS = 0.95, 20
"""Part of the cells with a value, of at least so many, from which a variant may be a germline one."""

_MANY, _MOST_CELLS = 10, 100
"""Mutations for each cell from which rows may be cells, and the number of cells from which they are not."""

_LEAST_READS, _MOSTLY = 5, 0.5
"""Reads of a cell from which its alleles count, and part of the cells with alternate reads that have no
others, from which a mutation is named."""

_BARCODE = re.compile(r"(?:.*[^A-Za-z])?[ACGT]{8,}(?:[-_.]\w{1,8})?|cell[-_. ]?\d+", re.IGNORECASE)
_VARIANT = re.compile(r"(?:chr)?[0-9XYM]{1,2}[:_]\d+\b.*|.*\b[pc]\.[A-Z*_\d].*", re.IGNORECASE)
_FEWEST_NAMES = 3


def warned(matrix: Matrix, *, names_axes: bool = False) -> Matrix:
    """Return a matrix with what is suspicious of it, which is logged: exchanged axes, germline variants.

    Args:
        matrix: the matrix.
        names_axes: whether its format says which are mutations and which are cells, as VCF does.
    """
    strange = _name_warnings(matrix, names_axes)
    if not strange and _MANY * matrix.n_cells <= matrix.n_mutations and (2 <= matrix.n_cells < _MOST_CELLS):
        words = (
            "%s: %s mutations of %s cells: each has to be a single cell, and so few leave most orders open"
            if names_axes
            else "%s: %s mutations of %s cells: if its rows are cells, rows and columns are exchanged"
        )
        logger.info(words, matrix.source, matrix.n_mutations, matrix.n_cells)
    found = [*strange, *_entry_warnings(matrix)]
    for words in found:
        logger.warning("%s", words)
    return replace(matrix, warnings=(*matrix.warnings, *found)) if found else matrix


def _name_warnings(matrix: Matrix, names_axes: bool) -> list[str]:
    """Return a warning if names of mutations look like cells, or names of cells like mutations."""
    rows = _share_of(_BARCODE, matrix.mutations) > 0.5
    columns = _share_of(_VARIANT, matrix.cells or ()) > 0.5
    if not rows and not columns:
        return []
    name = matrix.mutations[0] if rows else (matrix.cells or ("",))[0]
    looks, read = ("cell", "mutations") if rows else ("mutation", "cells")
    if names_axes:
        return [
            f"{matrix.source}: {name} looks like the name of a {looks}, and is that of one of the {read}: "
            "check the names in the file"
        ]
    return [
        f"{matrix.source}: rows and columns may be exchanged: {name} looks like the name of a {looks}, "
        f"and is read as one of the {read}"
    ]


def _share_of(pattern: re.Pattern[str], names: Sequence[str]) -> float:
    """Return the part of some names that have a form; 0 of too few."""
    if len(names) < _FEWEST_NAMES:
        return 0.0
    return sum(pattern.fullmatch(name) is not None for name in names) / len(names)


def _entry_warnings(matrix: Matrix) -> list[str]:
    """Return what is suspicious of the entries of a matrix."""
    checks = (_of_frequent, _of_common, _of_lost_alleles)
    return [words for check in checks if (words := check(matrix))]


def _of_frequent(matrix: Matrix) -> str:
    """Return a warning of variants that the source has as frequent in the population."""
    there = [name for name in matrix.mutations if name in matrix.frequent]
    if not there:
        return ""
    return (
        f"{counted(len(there), 'mutation is', 'mutations are')} frequent in the population by FREQ "
        f"({listed(there)}): germline variants are in all cells, also normal ones, and make no clones: cells "
        f"without one have lost an allele; leave them out with {flag_of('exclude_mutations')}"
    )


def _of_common(matrix: Matrix) -> str:
    """Return a warning of other mutations that are seen in nearly all cells with a value."""
    states = observed_states(matrix)
    known, seen = (states != MISSING).sum(axis=1), ((states == 1) | (states == 2)).sum(axis=1)
    nearly_all = np.flatnonzero((known >= _FEWEST_CELLS) & (seen >= IN_NEARLY_ALL * known)).tolist()
    rows = [row for row in nearly_all if matrix.mutations[row] not in matrix.frequent]
    if not rows:
        return ""
    shares = listed([f"{matrix.mutations[row]} {seen[row] / known[row]:.1%}" for row in rows])
    return (
        f"{counted(len(rows), 'mutation is', 'mutations are')} seen in at least {100 * IN_NEARLY_ALL:.0f} % "
        f"of the cells with a value ({shares}): germline variants are in all cells, also normal ones, and "
        f"make no clones: leave those out with {flag_of('exclude_mutations')}; in a sample without normal "
        "cells they may be the first mutations of the tumour"
    )


def _of_lost_alleles(matrix: Matrix) -> str:
    """Return a warning of mutations whose cells have, mostly, alternate reads alone."""
    reads = matrix.evidence
    if not isinstance(reads, Reads):
        return ""
    mutated = (reads.total >= _LEAST_READS) & (2 * reads.alternate >= reads.total)
    alone, cells = (mutated & (reads.alternate == reads.total)).sum(axis=1), mutated.sum(axis=1)
    rows = np.flatnonzero((cells >= _FEWEST_CELLS) & (alone > _MOSTLY * cells)).tolist()
    if not rows:
        return ""
    shares = listed([f"{matrix.mutations[row]} {alone[row] / cells[row]:.0%}" for row in rows])
    return (
        f"in most cells with {counted(len(rows), 'mutation', 'mutations')} all reads are alternate "
        f"({shares}): the normal allele is lost, or the cells are homozygous; the model of reads takes "
        "cells as heterozygous and explains this by dropout, so that cells without the mutation say little: "
        f"compare with {flag_of('evidence', 'calls')}"
    )
