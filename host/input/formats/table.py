"""Tables with names: a header, then rows that each begin with their name."""

from __future__ import annotations

import csv

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import (
    MISSING,
    PLAIN,
    Asked,
    Grid,
    code,
    named_grid,
    refuse_rows,
    with_two,
)
from syclade.host.input.formats.lines import lines_of
from syclade.host.options import flag_of

__all__ = ["by_commas", "read_condor", "read_csv", "read_sc", "read_tsv"]

_CLUSTER = "cluster_id"


def read_sc(data: bytes, path: str, asked: Asked) -> Grid:
    """Read scphylo's and PhISCS' table: separated by tabs, rows are cells; missing is 3 or "?".

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(asked, "cells", path, f"{flag_of('format', 'tsv')} takes {flag_of('rows')}")
    return _read(_by_tabs(data, path), Asked(asked.two, "cells"), path)


def read_tsv(data: bytes, path: str, asked: Asked) -> Grid:
    """Read a table separated by tabs; ``asked.rows`` gives the meaning of its rows."""
    return _read(_by_tabs(data, path), asked, path)


def read_csv(data: bytes, path: str, asked: Asked) -> Grid:
    """Read a table separated by commas; ``asked.rows`` gives the meaning of its rows."""
    return _read(by_commas(data, path), asked, path)


def read_condor(data: bytes, path: str, asked: Asked) -> Grid:
    """Read ConDoR's table (Sashittal et al. 2023): separated by commas, rows are cells, -1 is missing.

    The last column is cluster_id, which is dropped.

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(asked, "cells", path, f"{flag_of('format', 'csv')} takes {flag_of('rows')}")
    rows = by_commas(data, path)
    if rows[0][-1].strip() != _CLUSTER:
        raise MatrixError(
            f"the last column is not {_CLUSTER}", path=path, line=1, hint=f"{flag_of('format')} csv"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):  # otherwise a mutation would be dropped as the cluster
            raise MatrixError(
                f"the row has {len(row)} fields, but the header {len(rows[0])}", path=path, line=number
            )
    return _read([row[:-1] for row in rows], Asked(asked.two, "cells"), path)


def _by_tabs(data: bytes, path: str) -> list[list[str]]:
    return [line.split("\t") for line in lines_of(data, path)]


def by_commas(data: bytes, path: str) -> list[list[str]]:
    """Return the rows of a table separated by commas, header first; raise MatrixError if it is invalid."""
    try:
        rows = list(csv.reader(lines_of(data, path), strict=True))
    except csv.Error as problem:
        raise MatrixError(f"no table with commas: {problem}", path=path) from None
    if [] in rows:
        raise MatrixError("blank line between rows", path=path, line=rows.index([]) + 1)
    return rows


def _read(rows: list[list[str]], asked: Asked, path: str) -> Grid:
    """Return the values and names of a table.

    Raises:
        MatrixError: `rows` is not given, or 2 occurs and `two` is not given; invalid names or values.
    """
    if asked.rows is None:
        raise MatrixError(
            "rows may be cells or mutations",
            path=path,
            hint=f"give {flag_of('rows')} cells or {flag_of('rows')} mutations",
        )
    header, below = [name.strip() for name in rows[0][1:]], rows[1:]
    if _CLUSTER in header:
        raise MatrixError(
            f"the column {_CLUSTER} is not a mutation",
            path=path,
            line=1,
            hint=f"use {flag_of('format')} condor",
        )
    across = asked.rows == "cells"
    names = [row[0].strip() if row else "" for row in below]
    values = code([row[1:] for row in below], PLAIN | MISSING, range(2, len(rows) + 1), path)
    if values.shape[1] != len(header):
        raise MatrixError(
            f"rows have {values.shape[1]} values, but the header has {len(header)} names", path=path, line=1
        )
    mutations, cells = (header, names) if across else (names, header)
    values = with_two(values, asked, path)
    return named_grid(values.T if across else values, mutations, cells)
