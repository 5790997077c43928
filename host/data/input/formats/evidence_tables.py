"""Folders that `syclade convert` and `syclade simulate --reads` write: a matrix, and tables of its evidence.

matrix.csv, matrix.geneNames and matrix.cellNames are in SCITE's format. Beside them are alternate.tsv and
total.tsv, the numbers of reads, or log_odds.tsv: rows are mutations and columns cells, both with names.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from syclade.host.data.input.evidence import Evidence, Likelihoods
from syclade.host.data.input.formats.counts import numbers_of
from syclade.host.data.input.formats.grid import Grid, ReadOptions, refuse_rows, unused_evidence, with_two
from syclade.host.data.input.formats.likelihoods import likelihood_numbers
from syclade.host.data.input.formats.reads import check_reads, reads_of
from syclade.host.data.input.formats.tabular import Table, fields_of
from syclade.host.data.input.names import default_names, read_name_file
from syclade.host.data.input.reader import values_of
from syclade.host.data.input.source import Source
from syclade.host.data.input.textfile import lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import is_file
from syclade.host.ground.options import flag_of

__all__ = ["ALTERNATE", "LOG_ODDS", "MATRIX", "TOTAL", "read_folder"]

MATRIX, ALTERNATE, TOTAL, LOG_ODDS = "matrix.csv", "alternate.tsv", "total.tsv", "log_odds.tsv"
"""Names of the files."""


def read_folder(path: Path, options: ReadOptions) -> Grid:
    """Read a folder; 2 is homozygous.

    Raises:
        MatrixError: a file is missing or malformed, with its line; tables differ in their names.
    """
    refuse_rows(options, "mutations", str(path))
    file = path / MATRIX
    values = with_two(values_of(Source.of(file).text()[0], file), options.with_two("homozygous"), str(file))
    mutations = read_name_file(file, values.shape, "mutation")
    cells = read_name_file(file, values.shape, "cell")
    kinds = [kind for kind, name in (("likelihoods", LOG_ODDS), ("reads", TOTAL)) if is_file(path / name)]
    return Grid(
        values,
        mutations[1] if mutations else default_names(len(values)),
        cells[1] if cells else None,
        unused_evidence(options, *kinds),
        evidence=_evidence(path, values.shape, options),
    )


def _evidence(path: Path, shape: tuple[int, ...], options: ReadOptions) -> Evidence | None:
    """Return the evidence that the options ask for."""
    if options.evidence == "calls":
        return None
    if options.evidence == "likelihoods":
        file = path / LOG_ODDS
        log_odds = likelihood_numbers(_table(file, shape), str(file))
        return Likelihoods(np.where(np.isnan(log_odds), 0.0, log_odds))
    first, second = path / ALTERNATE, path / TOTAL
    table = _table(first, shape)
    alternate, total = numbers_of(table, str(first)), numbers_of(_table(second, shape), str(second))
    check_reads(alternate, total, options, str(first), lambda mutation, cell: table.lines[mutation])
    return reads_of(alternate, total, options)


def _table(path: Path, shape: tuple[int, ...]) -> Table:
    """Return a table of evidence, in the order of the matrix."""
    if not is_file(path):
        hint = f"leave out {flag_of('evidence')}, or give the evidence that the folder has"
        raise MatrixError("no such file", path=str(path), hint=hint)
    rows = fields_of(lines_of(Source.of(path).text()[0], str(path)), "\t", str(path))
    for number, row in enumerate(rows, 1):
        if len(row) != shape[1] + 1:
            raise MatrixError(
                f"the row has {len(row) - 1} numbers, but {MATRIX} has {shape[1]} cells",
                path=str(path),
                line=number,
            )
    if len(rows) != shape[0] + 1:
        raise MatrixError(
            f"{len(rows) - 1} rows, but {MATRIX} has {shape[0]} mutations", path=str(path), line=len(rows)
        )
    return Table(tuple(rows[0][1:]), tuple(row[0] for row in rows[1:]), [row[1:] for row in rows[1:]], 2)
