"""Tables of numbers of reads: pairs of tables, and long tables with a row for each mutation and cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import MISSING, UNKNOWN, Grid, ReadOptions
from syclade.host.data.input.formats.reads import called
from syclade.host.data.input.formats.tabular import Table, fields_of, read_table
from syclade.host.data.input.source import Source, lines_of
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.limits import MOST_BYTES
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import excerpt

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["numbers_of", "of_pair", "read_long", "second_table", "why_not_long"]

_COUNT = re.compile(r"([0-9]{1,9})(?:[.,]0*)?")

_ROLES = {
    "cell": ("cell", "cell_id", "cellid", "cell_barcode", "barcode", "cb"),
    "mutation": ("mutation", "mutation_id", "variant", "variant_id", "snv", "snv_id", "snp", "snp_id", "mut"),
    "alt": (
        "ad",
        "alt_reads",
        "alt_counts",
        "alt_count",
        "var_reads",
        "variant_reads",
        "var_counts",
        "var",
        "alt",
    ),
    "total": ("dp", "total_reads", "total_counts", "total_count", "total", "depth", "coverage"),
    "ref": ("rd", "ref_reads", "ref_counts", "ref_count", "reference_reads", "ref"),
}
"""Usual names of columns, the most specific first: `alt` and `ref` may also be columns of alleles."""


def of_pair(table: Table, options: ReadOptions, path: str, form: str) -> Grid:
    """Return the calls of a table of alternate reads and a second table, of all reads or of reference reads.

    Rows and columns are paired by their names.

    Args:
        table: the table of alternate reads.
        options: the options; ``total_reads`` or ``ref_reads`` is the path of the second table.
        path: the file of the first table, for messages.
        form: its format, "tsv" or "csv".

    Raises:
        MatrixError: an error in a file; different names in the tables; ``min_depth`` is not given, or 0.
        OptionError: both options, or the option ``two``, are given.
    """
    if options.two is not None:
        raise OptionError(f"{flag_of('two')} is for genotypes, not for numbers of reads", hint="leave it out")
    if options.total_reads is not None and options.ref_reads is not None:
        pair = f"{flag_of('total_reads')} and {flag_of('ref_reads')}"
        raise OptionError(f"{pair} are both given", hint="give one of them")
    alternate = numbers_of(table, path)
    second, digest = second_table(
        table, options.total_reads or options.ref_reads or "", path, form, numbers_of
    )
    transposed = options.rows == "cells"
    depth = second if options.ref_reads is None else alternate + second
    mutations, cells = table.names, table.columns
    if transposed:
        alternate, depth, mutations, cells = alternate.T, depth.T, table.columns, table.names

    def line_of(mutation: int, cell: int) -> int:
        return table.lines[cell if transposed else mutation]

    return replace(called(alternate, depth, options, path, line_of).grid(mutations, cells), also=(digest,))


def second_table(
    table: Table,
    file: AnyPath | DataFrame,
    path: str,
    form: str,
    read: Callable[[Table, str], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], str]:
    """Return the numbers of a second table in the order of the first, and the SHA-256 of its file.

    Args:
        table: the first table.
        file: the file of the second one.
        path, form: file and format of the first one.
        read: returns the numbers of a table.

    Raises:
        MatrixError: an error in the file; the tables do not have the same names, or sizes.
    """
    source = Source.of(cast(AnyPath, file))
    text, digest = source.text()
    other = read_table(text, source.name, _form_of(text, form), numbers=True)
    rows = _order(table.names, other.names, "row", path, source.name)
    columns = _order(table.columns, other.columns, "column", path, source.name)
    numbers, shape = read(other, source.name), (len(table.entries), len(table.entries[0]))
    if shape != numbers.shape:
        sizes = [" × ".join(map(str, one)) for one in (numbers.shape, shape)]
        raise MatrixError(f"the table has {sizes[0]} numbers, but {path} {sizes[1]}", path=source.name)
    at = np.ix_(rows or range(shape[0]), columns or range(shape[1]))  # tables may have no names
    return numbers[at], digest


def _form_of(text: bytes, form: str) -> str:
    """Return the format of the second table, which may have other separators than the first."""
    first = text[: 2**16].partition(b"\n")[0]
    return "tsv" if b"\t" in first else "csv" if b"," in first or b";" in first else form


def _order(names: Sequence[str], others: Sequence[str], what: str, path: str, other: str) -> list[int]:
    """Return where each row or column of the first table is in the second one.

    Raises:
        MatrixError: the tables do not have the same names.
    """
    places = {name: at for at, name in enumerate(others)}
    for one, these, those in ((other, names, places), (path, others, set(names))):
        absent = next((name for name in these if name not in those), None)
        if absent is not None:
            where = path if one == other else other
            raise MatrixError(
                f"there is no {what} {excerpt(absent)}, which {where} has",
                path=one,
                hint="both tables need the same names, in any order",
            )
    return [places[name] for name in names]


def numbers_of(table: Table, path: str) -> NDArray[np.float64]:
    """Return the numbers of reads in a table; NaN for missing ones."""
    return np.array(
        [
            [_count(entry, path, line) for entry in row]
            for row, line in zip(table.entries, table.lines, strict=True)
        ]
    )


def _count(text: str, path: str, line: int) -> float:
    match = _COUNT.fullmatch(text.strip())
    if match is not None:
        return float(match[1])
    if text.strip().upper() in UNKNOWN:
        return np.nan
    several = re.fullmatch(r"[0-9]+(?:,[0-9]+)+", text.strip()) is not None
    raise MatrixError(
        f"{excerpt(text)} is not a number of reads",
        path=path,
        line=line,
        hint="give each alternate allele a row of its own" if several else None,
    )


def read_long(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read a table with a row for each mutation and cell, and call genotypes from their reads (`called`).

    A cell has no reads of a mutation without a row for both.

    Raises:
        MatrixError: an error in the file, with the line; columns that are not found; ``min_depth`` is not
            given, or 0.
        OptionError: the option ``columns`` is not valid, or ``two`` or ``rows`` is given.
    """
    for option in ("two", "rows"):
        if getattr(options, option) is not None:
            raise OptionError(f"{flag_of(option)} is not for a table of reads", hint="leave it out")
    lines = lines_of(data, path)
    rows = [[field.strip() for field in row] for row in fields_of(lines, _separator(lines[0]), path)]
    roles = _roles(options.columns, rows[0], path)
    begin = (
        0
        if all(_is_count(rows[0][at]) for role in ("alt", "total", "ref") for at in roles.get(role, ()))
        else 1
    )
    if begin == len(rows):
        raise MatrixError("the table has a header, but no rows", path=path, line=1)
    found = _Rows({}, {}, {}, [])
    for line, row in enumerate(rows[begin:], begin + 1):
        if len(row) != len(rows[0]):
            raise MatrixError(
                f"the row has {len(row)} fields, but the first {len(rows[0])}", path=path, line=line
            )
        found.add(row, roles, path, line)
    alternate, depth = found.tables(path)
    reads = called(alternate, depth, options, path, lambda *place: found.lines.get(place))
    return reads.grid(list(found.mutations), list(found.cells))


class _Rows(NamedTuple):
    """Rows of a long table.

    Attributes:
        mutations, cells: places in the matrix, by names, in the order of their first rows.
        lines: line number of each mutation and cell.
        reads: numbers of alternate reads and of all reads, in the same order.
    """

    mutations: dict[str, int]
    cells: dict[str, int]
    lines: dict[tuple[int, int], int]
    reads: list[tuple[float, float]]

    def add(self, row: Sequence[str], roles: Mapping[str, Sequence[int]], path: str, line: int) -> None:
        """Add a row.

        Raises:
            MatrixError: an entry is not a number of reads, or there was such a row before.
        """
        mutation, cell = (":".join(row[at] for at in roles[role]) for role in ("mutation", "cell"))
        place = (
            self.mutations.setdefault(mutation, len(self.mutations)),
            self.cells.setdefault(cell, len(self.cells)),
        )
        before = self.lines.setdefault(place, line)
        if before != line:
            raise MatrixError(
                f"mutation {excerpt(mutation)} and cell {excerpt(cell)} are also in line {before}",
                path=path,
                line=line,
                hint="sum their reads, or name mutations by more columns",
            )
        alternate = _count(row[roles["alt"][0]], path, line)
        other = _count(row[roles["total" if "total" in roles else "ref"][0]], path, line)
        self.reads.append((alternate, other if "total" in roles else alternate + other))

    def tables(self, path: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the numbers of alternate reads and of all reads, shape (mutations, cells); else 0."""
        shape = len(self.mutations), len(self.cells)
        if shape[0] * shape[1] > MOST_BYTES:
            raise MatrixError(f"{shape[0]} mutations × {shape[1]} cells are too many", path=path)
        at, reads = np.array(list(self.lines)), np.array(self.reads)
        alternate, depth = np.zeros(shape), np.zeros(shape)
        alternate[at[:, 0], at[:, 1]], depth[at[:, 0], at[:, 1]] = reads.T
        return alternate, depth


def _is_count(text: str) -> bool:
    return _COUNT.fullmatch(text) is not None or text.upper() in MISSING


def _separator(first: str) -> str:
    """Return the separator of a long table, from its first line."""
    return next((separator for separator in "\t,;" if separator in first), " ")


def _roles(columns: str | None, first: Sequence[str], path: str) -> dict[str, list[int]]:
    """Return the columns of cells, mutations and reads, from 0.

    Args:
        columns: the option; None finds them by their names.
        first: the fields of the first line.
        path: the file, for messages.
    """
    if columns is not None:
        return {role: [_column(key, first, path) for key in keys] for role, keys in _parsed(columns).items()}
    roles = _usual(first)
    absent = _absent(roles)
    if absent:
        raise MatrixError(
            f"there is no column of {absent}",
            path=path,
            line=1,
            hint=f"name the columns: {flag_of('columns')} cell=NAME,mutation=NAME,alt=NAME,total=NAME",
        )
    return roles


def _usual(header: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns with usual names, by their roles."""
    places = {name.lower(): at for at, name in enumerate(header)}
    found = {
        role: next((places[name] for name in names if name in places), None) for role, names in _ROLES.items()
    }
    roles = {role: [at] for role, at in found.items() if at is not None}
    if "total" in roles:
        roles.pop("ref", None)
    return roles


def _absent(roles: Iterable[str]) -> str:
    """Return the columns that a table lacks; empty if it has all."""
    names = {"cell": "cells", "mutation": "mutations", "alt": "alternate reads"}
    absent = [words for role, words in names.items() if role not in roles]
    return ", ".join(absent + ([] if {"total", "ref"} & set(roles) else ["all reads, or reference reads"]))


def _parsed(columns: str) -> dict[str, list[str]]:
    """Return the names of columns in the option, by their roles.

    Raises:
        OptionError: the option is not a list of roles and names, or lacks a role.
    """
    flag, parts = flag_of("columns"), [part.partition("=") for part in columns.split(",")]
    hint = "give cell=NAME,mutation=NAME,alt=NAME,total=NAME (or ref=NAME); several columns as NAME+NAME"
    roles = {role.strip(): [key.strip() for key in keys.split("+")] for role, _, keys in parts}
    if (
        len(roles) < len(parts)
        or not set(roles) <= set(_ROLES)
        or not all(all(keys) for keys in roles.values())
    ):
        raise OptionError(f"{flag} is {columns!r}", hint=hint)
    if _absent(roles) or {"total", "ref"} <= set(roles):
        raise OptionError(
            f"{flag} has no column of {_absent(roles)}" if _absent(roles) else f"{flag} has total and ref",
            hint=hint,
        )
    if any(len(roles.get(role, "1")) > 1 for role in ("alt", "total", "ref")):
        raise OptionError(f"{flag} has several columns of reads", hint=hint)
    return roles


def _column(key: str, first: Sequence[str], path: str) -> int:
    """Return the place of a column, from 0, given its name, or its number from 1."""
    if key.isdecimal() and key.isascii():
        if 0 < int(key[:9]) <= len(first):
            return int(key[:9]) - 1
    elif key in first:
        return list(first).index(key)
    raise MatrixError(
        f"there is no column {excerpt(key)}",
        path=path,
        line=1,
        hint=f"there are {excerpt(', '.join(first), 200)}",
    )


def why_not_long(first: str, second: str) -> str | None:
    """Return why two lines are not those of a long table with usual names of columns; None if they are."""
    try:
        header = fields_of([first], _separator(first), "")[0]
    except MatrixError:
        return "no table"
    absent = _absent(_usual([field.strip() for field in header]))
    return f"no column of {absent}" if absent else None
