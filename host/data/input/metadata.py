"""Labels of cells, from a table or from the matrix: specimens (biopsies), time points, and any others.

A *specimen* is what was taken at once: a biopsy, or the blood of a day. Tables call its column `sample`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.label_table import (
    SAMPLE,
    match_cells,
    names_shown,
    read_label_table,
    refuse_missing_header,
)
from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, excerpt, listed, short_repr, shown

__all__ = ["CellLabels", "labels_of"]

logger = logging.getLogger("syclade.input")

_CELLS_OF_SPECIMEN = 5
"""Fewest cells of a specimen on average where nobody requested the column: plates have a sample per cell."""

_MOST_GROUPS = 50
"""Most values of a column of the matrix that is shown as a label: others are measurements, or names."""


@dataclass(frozen=True, eq=False)
class CellLabels:
    """Labels of the cells of a matrix.

    Attributes:
        columns: for each column, the text of each cell, in the order of the matrix; empty for none.
        specimen, time: column of the specimens, and of the time points; None for none.
        specimens: names of the specimens: by time, else in the order of the table.
        times: time point of each specimen; empty without them.
        in_numbers: whether time points are ordered as numbers, and not as the table has them.
        given: whether they are from a table, and not from the matrix.
    """

    columns: Mapping[str, tuple[str, ...]]
    specimen: str | None = None
    time: str | None = None
    specimens: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    in_numbers: bool = False
    given: bool = False

    def __repr__(self) -> str:
        """Return the fields in a line."""
        return short_repr(self)

    @cached_property
    def specimen_of(self) -> NDArray[np.int64]:
        """int64, shape (cells,): number of each cell's specimen; -1 for none, and without specimens."""
        number = {name: at for at, name in enumerate(self.specimens)}
        texts = next(iter(self.columns.values())) if self.specimen is None else self.columns[self.specimen]
        return np.array([number.get(text, -1) for text in texts], dtype=np.int64)

    @property
    def order(self) -> str:
        """Order of the specimens as text."""
        if not self.times:
            return "in the order of the table"
        return "by time, as numbers" if self.in_numbers else "by time, in the order of the table"


def labels_of(
    metadata: object, matrix: Matrix, sample_column: str | None = None, time_column: str | None = None
) -> CellLabels | None:
    """Return the labels of the cells of a matrix; None if there are none.

    Args:
        metadata: the path of a table with a header (tabs, commas or semicolons), a data frame, specimens by
            the names of cells, or columns by their names; None for the labels of the matrix itself, of which
            the columns with few values are taken.
        matrix: the matrix.
        sample_column: column of the specimens; by default `sample`, else the only one of a table.
        time_column: column of the time points; None for none.

    Raises:
        TableError: the table is invalid, a cell is in it twice, or none of its cells is in the matrix.
        OptionError: there is no such column, or a specimen is of several time points.
    """
    if metadata is None:
        return _own_labels(matrix, sample_column, time_column)
    table = read_label_table(metadata)
    cells = matrix.named_cells
    refuse_missing_header(table, cells)
    specimen = _specimen_column(list(table.columns), sample_column, time_column)
    rows = match_cells(table, cells)
    columns = {
        name: tuple(texts[row] if row >= 0 else "" for row in rows) for name, texts in table.columns.items()
    }
    _warn_of_empty(specimen, columns, cells, rows)
    in_order = {name: list(table.columns[name]) for name in (specimen, time_column) if name is not None}
    return replace(_ordered(columns, specimen, time_column, in_order), given=True)


def _warn_of_empty(
    specimen: str | None, columns: Mapping[str, Sequence[str]], cells: Sequence[str], rows: Sequence[int]
) -> None:
    """Warn of cells that the table has, but without a specimen."""
    texts = columns[specimen] if specimen is not None else ()
    empty = [name for name, text, row in zip(cells, texts, rows, strict=False) if row >= 0 and not text]
    if empty:
        words = counted(len(empty), "cell has", "cells have")
        logger.warning("%s nothing in the column %s of the metadata: %s", words, specimen, names_shown(empty))


def _own_labels(matrix: Matrix, sample_column: str | None, time_column: str | None) -> CellLabels | None:
    """Return those of the labels of a matrix that are specimens or time points; None if there are none."""
    if not matrix.labels and (sample_column or time_column):
        option = "sample_column" if sample_column else "time_column"
        raise OptionError(
            f"{flag_of(option)} without labels of cells",
            hint=f"give a table: {flag_of('metadata')} FILE; of the formats, h5ad has labels",
        )
    named = [name for name in matrix.labels if name.lower() == SAMPLE]
    others = [name for name, texts in matrix.labels.items() if _has_few_values(texts)]
    if sample_column is None and time_column is None:
        if not named or not _are_specimens(matrix.labels[named[0]], named[0]):
            return CellLabels({name: matrix.labels[name] for name in others}) if others else None
        sample_column = named[0]
    specimen = _specimen_column(list(matrix.labels), sample_column, time_column)
    chosen = [name for name in (specimen, time_column) if name is not None]
    columns = {name: matrix.labels[name] for name in dict.fromkeys([*chosen, *others])}
    return _ordered(columns, specimen, time_column, {name: list(texts) for name, texts in columns.items()})


def _has_few_values(texts: Sequence[str]) -> bool:
    """Return whether a column of the matrix is a label: it divides the cells into a few groups."""
    kinds = len({*texts} - {""})
    return 1 <= kinds <= min(_MOST_GROUPS, len(texts) // _CELLS_OF_SPECIMEN)


def _are_specimens(texts: Sequence[str], name: str) -> bool:
    """Return whether labels that were not requested are those of several specimens with enough cells."""
    kinds = len({*texts} - {""})
    if kinds * _CELLS_OF_SPECIMEN > len(texts):
        logger.info(
            "the column %s has %d values for %d cells, too many for specimens: %s %s takes it all the same",
            name,
            kinds,
            len(texts),
            flag_of("sample_column"),
            name,
        )
        return False
    return kinds > 1


def _specimen_column(columns: list[str], sample_column: str | None, time_column: str | None) -> str | None:
    """Return the column of the specimens: the given one, `sample`, the only one, or that of the time points.

    Raises:
        OptionError: a given column is not there.
    """
    for option, name in (("sample_column", sample_column), ("time_column", time_column)):
        if name is not None and name not in columns:
            raise OptionError(
                f"{flag_of(option)} is {shown(name)}, but there is no such column of labels",
                hint=f"there are {names_shown(columns, 20)}",
            )
    if sample_column is not None:
        return sample_column
    others = [name for name in columns if name != time_column]
    named = [name for name in others if name.lower() == SAMPLE]
    if named or len(others) == 1:
        return (named or others)[0]
    if time_column is None:
        logger.warning(
            "the labels have no column %s, but %s: %s NAME names the one of samples",
            SAMPLE,
            names_shown(columns, 20),
            flag_of("sample_column"),
        )
    return time_column


def _ordered(
    columns: Mapping[str, tuple[str, ...]],
    specimen: str | None,
    time: str | None,
    in_order: Mapping[str, Sequence[str]],
) -> CellLabels:
    """Return labels with their specimens in order; those without a cell in the matrix are left out.

    Args:
        columns: as of `CellLabels`.
        specimen, time: the columns.
        in_order: texts of these columns in the order of the table.
    """
    if specimen is None:
        return CellLabels(columns)
    here = set(columns[specimen]) - {""}
    names = [name for name in dict.fromkeys(in_order[specimen]) if name in here]
    if time is None:
        return CellLabels(columns, specimen, None, tuple(names))
    of: dict[str, set[str]] = {name: set() for name in names}
    for name, point in zip(columns[specimen], columns[time], strict=True):
        if name:
            of[name].add(point)
    for name, found in of.items():
        if len(found) > 1 or "" in found:
            listing = listed(sorted(excerpt(one) for one in found))
            raise OptionError(
                f"the cells of the sample {excerpt(name)} have several time points: {listing}",
                hint=f"give each sample one, or {flag_of('sample_column', time)} for a sample of each time",
            )
    when = {name: min(found) for name, found in of.items()}
    points = [point for point in dict.fromkeys(in_order[time]) if point]
    numbers = [_number(point) for point in points]
    in_numbers = None not in numbers
    if not in_numbers:
        _warn_of_order(time, points)
    ranks: list[float] = [
        at if number is None or not in_numbers else number for at, number in enumerate(numbers)
    ]
    rank = dict(zip(points, ranks, strict=True))
    names.sort(key=lambda name: rank[when[name]])
    return CellLabels(columns, specimen, time, tuple(names), tuple(when[name] for name in names), in_numbers)


def _warn_of_order(time: str, points: Sequence[str]) -> None:
    """Warn of time points such as day 10 and day 9 whose order in the table is not that of their numbers."""
    found = [_INSIDE.findall(point) for point in points]
    if any(len(numbers) != 1 for numbers in found):
        return
    numbers = [float(one) for (one,) in found]
    if numbers != sorted(numbers):
        logger.warning(
            "the time points in the column %s are words, and ordered as the table has them first: %s; for "
            "the order of their numbers, write numbers alone, or sort the table",
            time,
            names_shown(points, 20),
        )


_INSIDE = re.compile(r"[0-9]+(?:[.][0-9]+)?")
"""A number in the words of a time point."""


def _number(text: str) -> float | None:
    """Return a finite number; None for other text."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if np.isfinite(value) else None
