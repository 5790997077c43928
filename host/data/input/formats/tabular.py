"""Tables with names, as R, pandas and spreadsheets write them.

A table has a header with the names of its columns, and rows that begin with their name. These variants have
one meaning only, and are read: no field above the names of the rows (R's write.table), quoted fields, decimal
points and commas, a column of row numbers in front, no names of rows, no header, and empty columns or rows at
the end.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from syclade.host.data.input.formats.grid import is_symbol
from syclade.host.data.input.source import lines_of
from syclade.host.ground.errors import MatrixError

__all__ = ["Table", "by_commas", "fields_of", "no_value_in", "read_table", "separator_of", "why_no_table"]

_SEPARATORS = {"tsv": ("\t", " "), "csv": (",", ";")}
_NUMBER = re.compile(r"-?(?:[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]{1,3})?|inf)")
_OTHERS = 4
"""Of as many fields behind the name, one may be no value, as in a column of labels; its reader reports it."""
_QUOTED = re.compile(r'"((?:[^"\\]|""|\\.)*)"', re.DOTALL)


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        columns: names of the columns; empty if the table has none.
        names: names of the rows; empty if the table has none.
        entries: the other fields of each row.
        first: line number of the first row.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    entries: list[list[str]]
    first: int

    @property
    def lines(self) -> range:
        """Line numbers of the rows."""
        return range(self.first, self.first + len(self.entries))


def read_table(data: bytes, path: str, form: str, *, numbers: bool = False) -> Table:
    """Return the names and fields of a table.

    Args:
        data: the content of the file.
        path: the file, for messages.
        form: "tsv", for tabs or blanks between the fields, or "csv", for commas or semicolons.
        numbers: whether entries are any numbers, such as those of reads, in place of calls.

    Raises:
        MatrixError: no text or no rows, or a row with too many or too few fields, with its line.
    """
    lines = lines_of(data, path)
    first, second = [*lines[:2], ""][:2]
    try:
        rows = fields_of(lines, separator_of(first, second, form), path)
    except csv.Error as problem:
        raise MatrixError(f"no table: {problem}", path=path) from None
    rows = _without_empty_ends(rows)
    if len(rows) < 2:
        raise MatrixError("the file has no rows below its header", path=path, line=1)
    header, width = len(rows[0]), len(rows[1])
    for number, row in enumerate(rows[1:], 2):
        if len(row) != width or header not in (width - 1, width):
            than = f"the header {header}" if header not in (width - 1, width) else f"the first {width}"
            raise MatrixError(
                f"the row has {len(row)} fields, but {than}",
                path=path,
                line=number,
                hint="each row needs its name and a value for each name of the header",
            )
    return _table_of([field.strip() for field in rows[0]], rows[1:], corner=header == width, numbers=numbers)


def _table_of(header: list[str], below: list[list[str]], *, corner: bool, numbers: bool) -> Table:
    """Return the table of a header and the rows below; find out which of the names there are."""
    is_entry = _is_number if numbers else is_symbol
    front = [row[0].strip() for row in below]
    no_names = corner and _are_values(front)
    no_header = corner and _are_values(header if no_names else header[1:])
    if no_names:
        return Table((), (), [header, *below], 1) if no_header else Table(tuple(header), (), below, 2)
    entries = [row[1:] for row in below]
    if no_header:
        return Table((), (header[0], *front), [header[1:], *entries], 1)
    columns = header[1:] if corner else header
    if _count_up(front) and entries[0] and not any(is_entry(row[0].strip()) for row in entries):
        columns, front = columns[1:], [row[0].strip() for row in entries]
        entries = [row[1:] for row in entries]
    return Table(tuple(columns), tuple(front), entries, 2)


def _are_values(fields: Sequence[str]) -> bool:
    """Return whether fields are values and no names: names do not repeat, and are not all empty."""
    return len(set(fields)) < len(fields) and all(map(is_symbol, fields)) and any(fields)


def _count_up(fields: Sequence[str]) -> bool:
    """Return whether fields are the numbers of the rows, from 0 or from 1."""
    return any(all(field == str(at) for at, field in enumerate(fields, begin)) for begin in (0, 1))


def _without_empty_ends(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without empty rows and empty columns at the end."""
    while rows and not any(field.strip() for field in rows[-1]):
        rows = rows[:-1]
    if not rows or not rows[0]:
        return rows
    width = len(rows[0])
    while width > 1 and all(len(row) >= width and not row[width - 1].strip() for row in rows):
        width -= 1
    extra = len(rows[0]) - width
    return [row[: len(row) - extra] for row in rows] if extra else rows


def separator_of(first: str, second: str, form: str) -> str:
    """Return the separator of a table, from its first two lines.

    Raises:
        csv.Error: a field is too long.
    """
    usual, other = _SEPARATORS[form]
    if form == "tsv":
        return usual if usual in first + second else other
    for separator in (usual, other):
        names, values = (len(_split(line, separator)) for line in (first, second))
        if values > 1 and names in (values, values - 1):
            return separator
    return usual if usual in first else other if other in first else usual


def fields_of(lines: list[str], separator: str, path: str) -> list[list[str]]:
    """Return the fields of each line, without quotation marks; raise MatrixError if they are not closed."""
    if separator in ("\t", " "):
        return [_split(line, separator) for line in lines]
    try:
        rows = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as problem:
        what = "commas" if separator == "," else "semicolons"
        raise MatrixError(f"no table with {what}: {problem}", path=path) from None
    if [] in rows:
        raise MatrixError("blank line between rows", path=path, line=rows.index([]) + 1)
    return rows


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of one line, without quotation marks.

    R writes a quotation mark inside a field as two, or with a backslash. With tabs, a field is quoted only
    if it has a mark at both ends: names may begin with one.
    """
    if separator == "\t":
        return _all_unquoted(line.split("\t"))
    if separator == " ":
        return _all_unquoted([one[0] for one in re.finditer(rf"{_QUOTED.pattern}(?!\S)|\S+", line)])
    return next(csv.reader([line], delimiter=separator), [])


def _is_number(field: str) -> bool:
    return is_symbol(field) or _NUMBER.fullmatch(field) is not None


def _all_unquoted(fields: list[str]) -> list[str]:
    """Return the fields without quotation marks; most fields are one of few values."""
    known = {field: _unquoted(field) for field in set(fields)}
    return [known[field] for field in fields]


def _unquoted(field: str) -> str:
    found = _QUOTED.fullmatch(field.strip())
    return re.sub(r'""|\\(.)', lambda one: one[1] or '"', found[1]) if found else field


def by_commas(data: bytes, path: str) -> list[list[str]]:
    """Return the rows of a table separated by commas, header first; raise MatrixError if it is invalid."""
    return fields_of(lines_of(data, path), ",", path)


def why_no_table(first: str, second: str, form: str) -> str | None:
    """Return why the first two lines are not those of a table with names; None if they are.

    Args:
        first, second: the lines.
        form: "tsv" or "csv".
    """
    if not second.strip():
        return "only one line"
    try:
        separator = separator_of(first, second, form)
        header, row = ([field.strip() for field in _split(line, separator)] for line in (first, second))
    except csv.Error as problem:
        return f"no table: {problem}"
    if len(row) < 2:
        return "no tabs or blanks" if form == "tsv" else "no commas or semicolons"
    if len(header) not in (len(row), len(row) - 1):
        return f"{len(header)} and {len(row)} fields in the first two lines"
    numbers = row[0] in ("0", "1") and not _is_number(row[1])  # of rows, in front of their names
    columns = header if len(header) < len(row) else header[1:]
    words = [word for column in columns for word in column.split()]
    numbered = header[0] == "" and all(columns) and len(set(columns)) == len(row) - 1  # pandas' columns
    if all(map(_is_number, set(words))) and not (numbered and separator != " "):
        return "no names in the first line"
    others = sum(times for field, times in Counter(row[1 + numbers :]).items() if not _is_number(field))
    sure = separator != " " and not any(map(_is_number, columns))
    most = (len(row) - 1) // _OTHERS if sure else 0
    if others > most or (separator == " " and is_symbol(row[0])):
        return "no name and values in the second line"
    return None


class NoValue(NamedTuple):
    """Field of a row that is no value.

    Attributes:
        text: the field.
        place: its number among the fields behind the name, from 1.
        column: name of its column; empty for none.
        others, of: number of fields that are no values, and of all, behind the name.
    """

    text: str
    place: int
    column: str
    others: int
    of: int


def no_value_in(first: str, second: str) -> NoValue | None:
    """Return the first field of a table's second line that is no value; None for no table.

    Only tables with tabs, commas or semicolons are considered, of three columns or more.
    """
    for form in _SEPARATORS:
        try:
            separator = separator_of(first, second, form)
            header, row = (_split(line, separator) for line in (first, second))
        except csv.Error:
            continue
        if separator != " " and len(row) >= _OTHERS and len(header) in (len(row), len(row) - 1):
            names = header[len(header) - len(row) + 1 :]
            wrong = [at for at, field in enumerate(row[1:]) if not _is_number(field.strip())]
            if not wrong or (wrong[0] and any(map(_is_number, names))):  # a header has names
                return None
            at = wrong[0]
            return NoValue(row[1 + at], 1 + at, names[at].strip(), len(wrong), len(names))
    return None
