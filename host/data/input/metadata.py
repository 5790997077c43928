"""Labels of cells, from a table or from the matrix: specimens (biopsies), time points, and any others.

A *specimen* is what was taken at once: a biopsy, or the blood of a day. Tables call its column `sample`.
"""

from __future__ import annotations

import csv
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.tabular import fields_of, separator_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.source import Source
from syclade.host.data.input.tables import is_frame
from syclade.host.data.input.textfile import excerpt, lines_of
from syclade.host.data.trees.clones import default_cell_names
from syclade.host.ground.errors import MatrixError, OptionError, TableError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, listed, short_repr, shown

__all__ = ["CellLabels", "labels_of"]

logger = logging.getLogger("syclade.input")

SAMPLE = "sample"
"""Usual name of the column of specimens."""

CELL_COLUMNS = ("cell", "barcode", "cell_id", "cell_barcode", "cellid", "cell_name")
"""Names of the column of cells, if it is not the first one; upper case counts as lower case."""

_CELLS_OF_SPECIMEN = 5
"""Fewest cells of a specimen on average where nobody asked for the column: plates have a sample per cell."""

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
        """int64, shape (cells,): number of each cell's specimen; -1 for none."""
        number = {name: at for at, name in enumerate(self.specimens)}
        texts = () if self.specimen is None else self.columns[self.specimen]
        return np.array([number.get(text, -1) for text in texts], dtype=np.int64)

    @property
    def order(self) -> str:
        """Order of the specimens as text."""
        if not self.times:
            return "in the order of the table"
        return "by time, as numbers" if self.in_numbers else "by time, in the order of the table"


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of labels.

    Attributes:
        path: the file, for messages; None for an object.
        names: name of the cell of each row.
        columns: texts of the rows by column.
        lines: line of each row; empty for an object.
        head: first cell of the header of a file; empty for an object.
        head_line: its line.
    """

    path: str | None
    names: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int] = ()
    head: str = ""
    head_line: int | None = None


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
    table = _read(metadata)
    cells = matrix.cells or default_cell_names(matrix.n_cells)
    _refuse_missing_header(table, cells)
    specimen = _specimen_column(list(table.columns), sample_column, time_column)
    rows = _matched(table, cells)
    columns = {
        name: tuple(texts[row] if row >= 0 else "" for row in rows) for name, texts in table.columns.items()
    }
    _warn_of_empty(specimen, columns, cells, rows)
    in_order = {name: list(table.columns[name]) for name in (specimen, time_column) if name is not None}
    return replace(_ordered(columns, specimen, time_column, in_order), given=True)


def _refuse_missing_header(table: _Table, cells: Sequence[str]) -> None:
    """Refuse a table whose first line is that of a cell.

    Raises:
        TableError: it is.
    """
    head = _without_both(table.head)
    if head in set(map(_without_both, cells)) and head not in set(map(_without_both, table.names)):
        raise TableError(
            f"the table has no header: its first line is that of the cell {excerpt(table.head)}",
            path=table.path,
            line=table.head_line,
            hint=_SHAPE,
        )


def _warn_of_empty(
    specimen: str | None, columns: Mapping[str, Sequence[str]], cells: Sequence[str], rows: Sequence[int]
) -> None:
    """Warn of cells that the table has, but without a specimen."""
    texts = columns[specimen] if specimen is not None else ()
    empty = [name for name, text, row in zip(cells, texts, rows, strict=False) if row >= 0 and not text]
    if empty:
        words = counted(len(empty), "cell has", "cells have")
        logger.warning("%s nothing in the column %s of the metadata: %s", words, specimen, _named(empty))


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
    """Return whether labels that nobody asked for are those of several specimens with cells enough."""
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
                hint=f"there are {_named(columns, 20)}",
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
            _named(columns, 20),
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
            _named(points, 20),
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


def _read(metadata: object) -> _Table:
    """Return the table of metadata."""
    if isinstance(metadata, (str, os.PathLike)):
        return _read_file(metadata)
    if is_frame(metadata):
        return _of_frame(metadata)
    if isinstance(metadata, Mapping):
        return _of_mapping(metadata)
    raise OptionError(
        f"{flag_of('metadata')} is {shown(metadata)}",
        hint="give a file, a DataFrame, or samples by the names of cells",
    )


def _read_file(path: str | os.PathLike[str]) -> _Table:
    """Return the table of a file.

    Raises:
        TableError: it is no table with a header; with the line.
    """
    name = os.fspath(path)
    try:
        lines = lines_of(Source.of(path).text()[0], name)
        fields = fields_of(lines, separator_of(lines[0], (*lines, "")[1], _form(lines[0])), name)
    except MatrixError as problem:
        raise TableError(problem.message, path=problem.path, line=problem.line, hint=problem.hint) from None
    except csv.Error as problem:
        raise TableError(f"no table: {problem}", path=name) from None
    rows = [
        (at, [one.strip() for one in row]) for at, row in enumerate(fields, 1) if any(map(str.strip, row))
    ]
    if len(rows) < 2:
        raise TableError("the file has no rows below its header", path=name, hint=_SHAPE)
    header = rows[0][1]
    if len(header) == len(rows[1][1]) - 1:
        header = [CELL_COLUMNS[0], *header]  # R writes no name above those of the rows
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise TableError(
                f"the row has {len(row)} fields, but the header {len(header)}",
                path=name,
                line=line,
                hint=_SHAPE,
            )
    texts = {at: [row[at] for _, row in rows[1:]] for at in range(len(header))}
    table = _checked(header, texts, name, [line for line, _ in rows[1:]])
    at = header.index(next(one for one in header if one not in table.columns))  # the column of the cells
    return replace(table, head=header[at], head_line=rows[0][0])


def _named(names: Sequence[str], most: int = 5) -> str:
    """Return the first names for a message, shortened if they are long."""
    return listed([name if len(name) <= 60 else excerpt(name) for name in names], most)


_SHAPE = "write a header such as cell, sample; then a line for each cell"


def _form(header: str) -> str:
    """Return the form of a table by its header."""
    return "csv" if "\t" not in header and any(sign in header for sign in ",;") else "tsv"


def _checked(
    header: Sequence[str], texts: Mapping[int, Sequence[str]], path: str | None, lines: Sequence[int] = ()
) -> _Table:
    """Return a table whose columns have distinct names, and whose cells occur once.

    Raises:
        TableError: they do not; with the line.
    """
    line = 1 if lines else None
    for name in header:
        if header.count(name) > 1:
            raise TableError(f"the column {excerpt(name)} a second time", path=path, line=line)
    lowered = [name.lower() for name in header]
    at = next((lowered.index(name) for name in CELL_COLUMNS if name in lowered), 0)
    if len(header) < 2:
        raise TableError("there is no column of labels", path=path, line=line, hint=_SHAPE)
    seen: dict[str, int] = {}
    for row, name in enumerate(texts[at]):
        if name in seen:
            other = f"; first in line {lines[seen[name]]}" if lines else ""
            raise TableError(
                f"the cell {excerpt(name)} a second time{other}",
                path=path,
                line=lines[row] if lines else None,
                hint="give each cell one line",
            )
        seen[name] = row
    columns = {name: texts[number] for number, name in enumerate(header) if number != at}
    return _Table(path, texts[at], columns, lines)


def _of_frame(frame: Any) -> _Table:
    """Return the table of a data frame, whose index has the cells if no column has them."""
    columns = [str(name) for name in frame.columns]
    texts = {at: _texts(frame.iloc[:, at]) for at in range(len(columns))}
    if not any(name.lower() in CELL_COLUMNS for name in columns):
        texts = {0: _texts(frame.index), **{at + 1: column for at, column in texts.items()}}
        columns = [CELL_COLUMNS[0], *columns]
    return _checked(columns, texts, None)


def _of_mapping(given: Mapping[Any, Any]) -> _Table:
    """Return the table of specimens by the names of cells, or of columns by their names."""
    if all(isinstance(value, (str, int, float, np.generic)) for value in given.values()):
        texts = {0: [str(name) for name in given], 1: _texts(given.values())}
        return _checked((CELL_COLUMNS[0], SAMPLE), texts, None)
    columns = {str(name): _texts(values) for name, values in given.items()}
    if len({len(texts) for texts in columns.values()}) > 1:
        raise OptionError(f"the columns of {flag_of('metadata')} have different lengths")
    return _checked(list(columns), dict(enumerate(columns.values())), None)


def _texts(values: Iterable[Any]) -> list[str]:
    """Return values as texts: empty for None and NaN, whole numbers without a point."""
    found = []
    for value in values:
        if value is None or value != value or str(value) == "<NA>":
            found.append("")
        elif isinstance(value, (float, np.floating)):
            found.append(f"{value:g}")
        else:
            found.append(str(value))
    return found


_NUMBERED, _PREFIXED = re.compile(r"-[0-9]+$"), re.compile(r"^.*[:#]")


def _without_number(name: str) -> str:
    """Return a barcode without the number of its library: AAAC-1 as AAAC."""
    return _NUMBERED.sub("", name)


def _without_prefix(name: str) -> str:
    """Return a barcode without the name before it: P1:AAAC as AAAC."""
    return _PREFIXED.sub("", name)


def _without_both(name: str) -> str:
    """Return a barcode without both."""
    return _without_number(_without_prefix(name))


RULES: tuple[tuple[Callable[[str], str], str], ...] = (
    (_without_number, "without -1 and the like at the end"),
    (_without_prefix, "without what is before : or #"),
    (_without_both, "without both -1 at the end and what is before :"),
)
"""Rules by which names are compared that are not equal. Cell Ranger ends barcodes with the number of the
library, which other tools leave out; merged files have the name of the sample and a colon before them, as
syclade has for Tapestri. A rule is used only if names stay distinct with it on both sides: otherwise the
number or the sample is what tells two cells apart."""


def _matched(table: _Table, cells: Sequence[str]) -> list[int]:
    """Return the row of each cell in a table, or -1; report cells and rows without the other.

    Raises:
        TableError: no cell is in the table.
    """
    row_of = {name: row for row, name in enumerate(table.names)}
    rows = [row_of.get(name, -1) for name in cells]
    for shorten, words in RULES:
        found = _by_rule(shorten, table.names, cells, rows)
        if found:
            logger.info("%s of the metadata matched %s", counted(len(found), "cell", "cells"), words)
            for cell, row in found.items():
                rows[cell] = row
    missing = [cells[at] for at, row in enumerate(rows) if row < 0]
    if len(missing) == len(cells):
        raise TableError(
            f"no cell of the metadata is in the matrix: it has {_named(table.names, 3)}, and the "
            f"matrix {_named(cells, 3)}",
            path=table.path,
            hint="names of cells must be the same in both",
        )
    used = set(rows)
    over = [name for row, name in enumerate(table.names) if row not in used]
    if missing:
        words = counted(len(missing), "cell of the matrix is", "cells of the matrix are")
        logger.warning("%s not in the metadata: %s", words, _named(missing))
    if over:
        words = counted(len(over), "cell of the metadata is", "cells of the metadata are")
        logger.warning("%s not in the matrix: %s", words, _named(over))
    return rows


def _by_rule(
    shorten: Callable[[str], str], names: Sequence[str], cells: Sequence[str], rows: Sequence[int]
) -> dict[int, int]:
    """Return rows by cell that a rule matches, of those without a partner; none if it makes names equal."""
    if any(len({*map(shorten, some)}) < len(some) for some in (names, cells)):
        return {}
    used = set(rows)
    over = {shorten(name): row for row, name in enumerate(names) if row not in used}
    left = [at for at, row in enumerate(rows) if row < 0]
    return {at: over[name] for at in left if (name := shorten(cells[at])) in over}
