"""Mutations and cells that options leave out of a matrix: by a pipeline's marks, or by their observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import LeftOut, Matrix
from syclade.host.data.trees.clones import default_cell_names
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import counted, listed

__all__ = ["FILE", "Limits", "Marks", "left_out_table", "left_out_words", "limited"]

FILE = "left_out.tsv"
"""Name of the file of what was left out."""

COLUMNS = ("kind", "name", "number", "reason")
"""Columns of left_out.tsv: mutation or cell; its name; its row or column in the file, from 1; the reason."""

MISSING = 3


class Limits(NamedTuple):
    """Options that leave out mutations and cells by their observations; None for no limit.

    Attributes:
        min_cells: fewest cells in which a mutation is seen.
        max_missing_mutation: largest part of the cells in which a mutation may be missing.
        max_missing_cell: largest part of the mutations that a cell may miss.
    """

    min_cells: int | None = None
    max_missing_mutation: float | None = None
    max_missing_cell: float | None = None


class Marks(NamedTuple):
    """Mutations and cells that a file marks; an option leaves them out, but for germline variants.

    Attributes:
        mutations: bool, shape (n_mutations,): whether each is left out; None for none.
        cells: bool, shape (n_cells,): the same for cells.
        mutation_reason, cell_reason: why, such as "marked by ra/filtered".
    """

    mutations: NDArray[np.bool_] | None = None
    cells: NDArray[np.bool_] | None = None
    mutation_reason: str = ""
    cell_reason: str = ""


class _Rest:
    """Rest of a matrix: its rows and columns, while some are left out."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self.rows, self.columns = np.arange(matrix.n_mutations), np.arange(matrix.n_cells)
        self.out: list[LeftOut] = []

    @property
    def values(self) -> NDArray[np.uint8]:
        """The values that are left, uint8."""
        return np.asarray(self._matrix.values[np.ix_(self.rows, self.columns)])

    def drop_mutations(self, which: NDArray[np.bool_], reason: str) -> None:
        """Leave out some of the mutations that are left."""
        names = self._matrix.mutations
        self.out += [LeftOut("mutation", names[row], row + 1, reason) for row in self.rows[which].tolist()]
        self.rows = self.rows[~which]

    def drop_cells(self, which: NDArray[np.bool_], reason: str) -> None:
        """Leave out some of the cells that are left."""
        names = self._matrix.cells or default_cell_names(self._matrix.n_cells)
        self.out += [LeftOut("cell", names[at], at + 1, reason) for at in self.columns[which].tolist()]
        self.columns = self.columns[~which]

    def matrix(self) -> Matrix:
        """Return the matrix of what is left; cells without names have those of their numbers in the file."""
        if not self.out:
            return self._matrix
        if not len(self.rows) or not len(self.columns):
            raise MatrixError(
                f"nothing is left: {left_out_words(self.out)}",
                path=None if self._matrix.source == "array" else self._matrix.source,
                hint="leave fewer mutations and cells out",
            )
        names = self._matrix.cells or default_cell_names(self._matrix.n_cells)
        return replace(
            self._matrix,
            values=np.ascontiguousarray(self.values),
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

    First go what is marked, then mutations that are missing in too many cells, cells that miss too many of
    the other mutations, and mutations that are seen in too few of the other cells.

    Args:
        matrix: the matrix.
        limits: limits of what stays.
        marks: what is marked.

    Raises:
        MatrixError: nothing is left.
    """
    rest = _Rest(matrix)
    if marks.mutations is not None:
        rest.drop_mutations(marks.mutations, marks.mutation_reason)
    if marks.cells is not None:
        rest.drop_cells(marks.cells, marks.cell_reason)
    if (most := limits.max_missing_mutation) is not None and rest.values.size:
        missing = (rest.values == MISSING).mean(axis=1) > most
        rest.drop_mutations(missing, f"missing in more than {most:g} of the cells")
    if (most := limits.max_missing_cell) is not None and rest.values.size:
        missing = (rest.values == MISSING).mean(axis=0) > most
        rest.drop_cells(missing, f"missing more than {most:g} of the mutations")
    if limits.min_cells is not None:
        seen = ((rest.values == 1) | (rest.values == 2)).sum(axis=1)
        rest.drop_mutations(
            seen < limits.min_cells, f"seen in fewer than {counted(limits.min_cells, 'cell', 'cells')}"
        )
    return rest.matrix()


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
