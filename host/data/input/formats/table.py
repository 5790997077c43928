"""Formats that are tables with names."""

from __future__ import annotations

from dataclasses import replace

from syclade.host.data.input.formats.counts import of_pair
from syclade.host.data.input.formats.grid import (
    MISSING,
    PLAIN,
    Asked,
    Grid,
    code,
    named_grid,
    refuse_rows,
    with_two,
)
from syclade.host.data.input.formats.reads import refuse_reads
from syclade.host.data.input.formats.tabular import Table, read_table
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

__all__ = ["read_condor", "read_csv", "read_sc", "read_tsv"]

_CLUSTER = "cluster_id"


def read_sc(data: bytes, path: str, asked: Asked) -> Grid:
    """Read scphylo's and PhISCS' table: separated by tabs, rows are cells; missing is 3 or "?".

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(asked, "cells", path, f"{flag_of('format', 'tsv')} takes {flag_of('rows')}")
    return _read(read_table(data, path, "tsv"), replace(asked, rows="cells"), path, "sc")


def read_tsv(data: bytes, path: str, asked: Asked) -> Grid:
    """Read a table separated by tabs, or by blanks; ``asked.rows`` gives the meaning of its rows."""
    return _read(read_table(data, path, "tsv"), asked, path, "tsv")


def read_csv(data: bytes, path: str, asked: Asked) -> Grid:
    """Read a table separated by commas or semicolons; ``asked.rows`` gives the meaning of its rows."""
    return _read(read_table(data, path, "csv"), asked, path, "csv")


def read_condor(data: bytes, path: str, asked: Asked) -> Grid:
    """Read ConDoR's table (Sashittal et al. 2023): separated by commas, rows are cells, -1 is missing.

    The last column is cluster_id, which is dropped.

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(asked, "cells", path, f"{flag_of('format', 'csv')} takes {flag_of('rows')}")
    table = read_table(data, path, "csv")
    if table.columns[-1:] != (_CLUSTER,):
        raise MatrixError(
            f"the last column is not {_CLUSTER}", path=path, line=1, hint=f"{flag_of('format')} csv"
        )
    without = replace(table, columns=table.columns[:-1], entries=[row[:-1] for row in table.entries])
    return _read(without, replace(asked, rows="cells"), path, "condor")


def _read(table: Table, asked: Asked, path: str, form: str) -> Grid:
    """Return the values and names of a table.

    Raises:
        MatrixError: `rows` is not given, or 2 occurs and `two` is not given; invalid names or values.
    """
    if asked.rows is None:
        raise MatrixError(
            "this is a table with names, whose rows may be cells or mutations",
            path=path,
            line=1,
            hint=f"give {flag_of('format', form)} {flag_of('rows', 'cells')}, or "
            f"{flag_of('rows', 'mutations')}",
        )
    if asked.total_reads is not None or asked.ref_reads is not None:
        return of_pair(table, asked, path, form)
    refuse_reads(asked, path, f"{flag_of('total_reads')} FILE or {flag_of('ref_reads')} FILE")
    if _CLUSTER in table.columns:
        raise MatrixError(
            f"the column {_CLUSTER} is not a mutation",
            path=path,
            line=1,
            hint=f"use {flag_of('format')} condor",
        )
    values = with_two(code(table.entries, PLAIN | MISSING, table.lines, path), asked, path)
    if asked.rows == "cells":
        return named_grid(values.T, table.columns, table.names)
    return named_grid(values, table.names, table.columns)
