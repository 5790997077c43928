"""Table of matrices: a line for each matrix, with columns for its name, any of its options, and labels.

Values are converted to the types of `host/ground/options/table.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.answer.batch.results_table import COLUMNS as OF_RESULTS
from syclade.host.answer.batch.task import COLUMNS, Task, check_name, check_options, stem_of
from syclade.host.data.input.names import names_of_list, split_if_present
from syclade.host.data.input.source import read_text
from syclade.host.ground.errors import MatrixError, OptionError, TableError
from syclade.host.ground.files import problem_of
from syclade.host.ground.options import OPTIONS, Options, checked, flag_of, quoted_names
from syclade.host.ground.options.types import WEIGHTS_GIVEN
from syclade.host.ground.values import at_home, shown

__all__ = [
    "check_matrices",
    "is_table",
    "read_table",
    "value_of",
]


_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def value_of(name: str, text: str, folder: Path) -> Any:
    """Return the value of an option.

    Args:
        name: an option of the table of options.
        text: the value as users write it; several numbers are separated by blanks.
        folder: folder from which the paths of files are relative.

    Raises:
        OptionError: the text is no value of this option.
        MatrixError: a file of names cannot be read.
    """
    kind = OPTIONS[name].type
    if kind.name == "flag":
        if text.lower() not in _FLAGS:
            raise OptionError(f"{flag_of(name)} is {shown(text)}", hint="use yes or no")
        return _FLAGS[text.lower()]
    if kind.name in ("file", "names", "tree", "labels"):
        return str(folder / at_home(text))
    if kind.name == "list":
        prefix, text = split_if_present(text)
        text = f"@{folder / at_home(text[1:])}" if text.startswith("@") else text
        return prefix + quoted_names(names_of_list(text, flag_of(name)))
    if kind.name in ("weights", "pair"):
        numbers = [_number(name, one, kind.name == "pair") for one in text.split()]
        if kind.name == "weights" and len(numbers) != WEIGHTS_GIVEN:
            raise OptionError(f"{flag_of(name)} is {shown(text)}", hint=f"give {WEIGHTS_GIVEN} numbers")
        return list(checked(name, numbers))
    if kind.name == "whole" or (kind.name == "number" and text not in kind.choices):
        return checked(name, _number(name, text, kind.name == "whole"))
    return checked(name, text)


def _number(name: str, text: str, whole: bool) -> float:
    """Return a number.

    Raises:
        OptionError: the text is none.
    """
    try:
        return int(text) if whole else float(text)
    except ValueError:
        what = "a whole number" if whole else "a number"
        raise OptionError(f"{flag_of(name)} is {shown(text)}, which is not {what}") from None


_NAME, _MATRIX = "name", "matrix"
_LABEL = "label:"
"""Begin of the names of columns that the tables of the batch repeat."""

_HEAD = 2**16
"""Bytes that show whether a file is a table: with its comments before the first line."""

_QUOTED = {
    separator: re.compile(rf'\s*"((?:[^"]|"")*)"\s*(?={separator}|$)|([^{separator}]*)') for separator in ",;"
}
"""Cells by what separates them, which texts in double quotes may have."""

_DECIMAL_COMMA = re.compile(r"\d+,\d+(?:[eE][+-]?\d+)?")
_SPELLINGS = {
    spelling: name
    for name in COLUMNS
    for spelling in (name, name.replace("_", "-"), flag_of(name), flag_of(name).removeprefix("--"))
}
"""Options by the names that a column may have: `fp_rate`, `fp-rate` or the flag."""


class _Cell(NamedTuple):
    """A cell of the table: its text, without blanks around it, and its column in characters, from 1."""

    text: str
    column: int


def is_table(path: Path) -> bool:
    """Return whether a file is a table of matrices: its first line with content has a column `matrix`."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return False
    first = next(filter(_has_content, head.split("\n")), "")
    return _MATRIX in [cell.text for cell in _cells(first, _separator(first))]


def _has_content(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.startswith("#")


def read_table(path: Path, common: Options) -> list[Task]:
    """Return the tasks of a table; paths in it are relative to its folder, and lines with # are comments.

    An empty cell means the common option, or else the default.

    Args:
        path: the table, separated by tabs, commas or semicolons (`_separator`).
        common: options of all matrices.

    Raises:
        TableError: an unknown column, a label of a name that results.tsv has itself, a bad value, options
            that do not go together, or a name that is not unique or no name for a folder; with line and
            column.
    """
    lines = [
        (number, line)
        for number, line in enumerate(read_text(path, TableError).split("\n"), 1)
        if _has_content(line)
    ]
    if len(lines) < 2:
        raise TableError("the table has no matrices", path=path, hint="give a line for each matrix")
    separator = _separator(lines[0][1])
    header = list(_cells(lines[0][1], separator))
    columns = _columns(path, lines[0][0], header)
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for number, line in lines[1:]:
        cells = list(_cells(line, separator))
        if len(cells) != len(header):
            raise TableError(
                f"the line has {len(cells)} fields, but the first line {len(header)}", path=path, line=number
            )
        task = _task(path, number, dict(zip(columns, cells, strict=True)), common)
        if task.name.lower() in seen:
            raise TableError(
                f"the name {shown(task.name)} is also that of line {seen[task.name.lower()]}",
                path=path,
                line=number,
                hint=f"names are folders, and small and capital letters do not differ: use a column {_NAME}",
            )
        seen[task.name.lower()] = number
        tasks.append(task)
    return tasks


def check_matrices(table: Path, tasks: Sequence[Task]) -> None:
    """Check that a matrix of a table exists; a missing one fails in its own line.

    Args:
        table: the table.
        tasks: its tasks.

    Raises:
        TableError: none exists.
    """
    if all(problem_of(Path(task.matrix)) for task in tasks):
        raise TableError(
            f"none of its matrices exists, such as {tasks[0].matrix}",
            path=table,
            hint="paths in a table are relative to its folder",
        )


def _columns(path: Path, line: int, header: Sequence[_Cell]) -> list[str]:
    """Return what each column has: name, matrix, an option, or a label, whose name begins with `_LABEL`.

    Raises:
        TableError: a column is unknown, there twice, or missing, or results.tsv has another one of its name.
    """
    columns: list[str] = []
    for cell in header:
        name = cell.text if cell.text in (_NAME, _MATRIX) else _SPELLINGS.get(cell.text)
        if cell.text.startswith(_LABEL):
            name = _LABEL + " ".join(cell.text.removeprefix(_LABEL).split())
        if name is None:
            raise TableError(
                f"unknown column {shown(cell.text)}", path=path, line=line, column=cell.column,
                hint=f"columns are {_NAME}, {_MATRIX}, and options of a matrix such as fn_rate; results.tsv "
                f"repeats columns of labels, such as {_LABEL}stage",
            )  # fmt: skip
        if name.startswith(_LABEL):
            _check_label(path, line, cell, name.removeprefix(_LABEL))
        if name in columns:
            raise TableError(f"the column {name} is there twice", path=path, line=line, column=cell.column)
        columns.append(name)
    if _MATRIX not in columns:
        raise TableError(f"there is no column {_MATRIX}", path=path, line=line)
    return columns


def _check_label(path: Path, line: int, cell: _Cell, label: str) -> None:
    """Raise a TableError if results.tsv cannot have a column of this name."""
    if not label or label in OF_RESULTS:
        raise TableError(
            f"results.tsv has a column {label} of its own" if label else "the label has no name",
            path=path, line=line, column=cell.column,
            hint=f"give the label another name, such as {_LABEL}stage",
        )  # fmt: skip


def _task(path: Path, line: int, row: dict[str, _Cell], common: Options) -> Task:
    """Return the task of a line; raise a TableError if it is invalid."""
    matrix = row[_MATRIX]
    if not matrix.text:
        raise TableError("there is no matrix", path=path, line=line, column=matrix.column)
    options, cell = common, matrix
    try:
        if _NAME in row:
            cell = row[_NAME]
        name = check_name(cell.text if _NAME in row else stem_of(matrix.text))
        for option in row.keys() - {_NAME, _MATRIX}:
            cell = row[option]
            if cell.text and not option.startswith(_LABEL):
                value = value_of(option, cell.text, path.parent.absolute())
                options = options.replace(**{option: value})
    except (OptionError, MatrixError) as error:
        what = ": ".join(filter(None, (error.location(), error.message)))
        raise TableError(what, path=path, line=line, column=cell.column, hint=error.hint) from None
    try:
        check_options(options)
    except OptionError as error:
        raise TableError(error.message, path=path, line=line, hint=error.hint) from None
    labels = tuple(
        (column.removeprefix(_LABEL), " ".join(one.text.split()))
        for column, one in row.items()
        if column.startswith(_LABEL)
    )
    return Task(name, str(path.parent.absolute() / at_home(matrix.text)), options, labels)


def _separator(header: str) -> str:
    """Return what separates the cells: a tab if the first line has one, else a semicolon, else a comma."""
    return next((one for one in "\t;" if one in header), ",")


def _cells(line: str, separator: str) -> Iterator[_Cell]:
    """Yield the cells of a line; with commas or semicolons, texts may be in double quotes.

    With semicolons, as spreadsheets write tables in many languages, numbers may have decimal commas.
    """
    begin = 0
    if separator == "\t":
        for text in line.split("\t"):
            yield _Cell(text.strip(), begin + 1)
            begin += len(text) + 1
        return
    while begin <= len(line):
        found = _QUOTED[separator].match(line, begin)
        assert found is not None
        quoted, plain = found.groups()
        text = plain.strip() if quoted is None else quoted.replace('""', '"')
        if separator == ";" and _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        yield _Cell(text, begin + 1)
        begin = found.end() + 1
