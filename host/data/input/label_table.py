"""Table of labels of cells, from a file, a data frame or a mapping; its rows for the cells of a matrix."""

from __future__ import annotations

import csv
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from syclade.host.data.input.formats.tabular import fields_of, separator_of
from syclade.host.data.input.source import Source, lines_of
from syclade.host.data.input.tables import is_frame
from syclade.host.ground.errors import MatrixError, OptionError, TableError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, excerpt, listed, shown

__all__ = [
    "SAMPLE",
    "SHAPE",
    "LabelTable",
    "match_cells",
    "names_shown",
    "read_label_table",
    "refuse_missing_header",
]

SAMPLE = "sample"
"""Usual name of the column of specimens."""

CELL_COLUMNS = ("cell", "barcode", "cell_id", "cell_barcode", "cellid", "cell_name")
"""Names of the column of cells, if it is not the first one; upper case counts as lower case."""

SHAPE = "write a header such as cell, sample; then a line for each cell"
"""How to write a table of labels."""


@dataclass(frozen=True, eq=False)
class LabelTable:
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


def read_label_table(metadata: object) -> LabelTable:
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


def _read_file(path: str | os.PathLike[str]) -> LabelTable:
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
        raise TableError("the file has no rows below its header", path=name, hint=SHAPE)
    header = rows[0][1]
    named = set(CELL_COLUMNS).intersection(map(str.lower, header))
    if len(header) == len(rows[1][1]) - 1 and not named:
        header = [CELL_COLUMNS[0], *header]  # R writes no name above those of the rows
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise TableError(
                f"the row has {len(row)} fields, but the header {len(header)}",
                path=name,
                line=line,
                hint=SHAPE,
            )
    texts = {at: [row[at] for _, row in rows[1:]] for at in range(len(header))}
    table = _checked(header, texts, name, [line for line, _ in rows[1:]])
    at = header.index(next(one for one in header if one not in table.columns))  # the column of the cells
    return replace(table, head=header[at], head_line=rows[0][0])


def _form(header: str) -> str:
    """Return the form of a table by its header."""
    return "csv" if "\t" not in header and any(sign in header for sign in ",;") else "tsv"


def _checked(
    header: Sequence[str], texts: Mapping[int, Sequence[str]], path: str | None, lines: Sequence[int] = ()
) -> LabelTable:
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
        raise TableError("there is no column of labels", path=path, line=line, hint=SHAPE)
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
    return LabelTable(path, texts[at], columns, lines)


def _of_frame(frame: Any) -> LabelTable:
    """Return the table of a data frame, whose index has the cells if no column has them."""
    columns = [str(name) for name in frame.columns]
    texts = {at: _texts(frame.iloc[:, at]) for at in range(len(columns))}
    if not any(name.lower() in CELL_COLUMNS for name in columns):
        texts = {0: _texts(frame.index), **{at + 1: column for at, column in texts.items()}}
        columns = [CELL_COLUMNS[0], *columns]
    return _checked(columns, texts, None)


def _of_mapping(given: Mapping[Any, Any]) -> LabelTable:
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


logger = logging.getLogger("syclade.input")

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


def refuse_missing_header(table: LabelTable, cells: Sequence[str]) -> None:
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
            hint=SHAPE,
        )


def match_cells(table: LabelTable, cells: Sequence[str]) -> list[int]:
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
            f"no cell of the metadata is in the matrix: it has {names_shown(table.names, 3)}, and the "
            f"matrix {names_shown(cells, 3)}",
            path=table.path,
            hint="names of cells must be the same in both",
        )
    used = set(rows)
    over = [name for row, name in enumerate(table.names) if row not in used]
    if missing:
        words = counted(len(missing), "cell of the matrix is", "cells of the matrix are")
        logger.warning("%s not in the metadata: %s", words, names_shown(missing))
    if over:
        words = counted(len(over), "cell of the metadata is", "cells of the metadata are")
        logger.warning("%s not in the matrix: %s", words, names_shown(over))
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


def names_shown(names: Sequence[str], most: int = 5) -> str:
    """Return the first names for a message, shortened if they are long."""
    return listed([name if len(name) <= 60 else excerpt(name) for name in names], most)
