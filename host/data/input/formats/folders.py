"""Matrices in folders: of cellsnp-lite and MQuad, and of `syclade convert` and `simulate --reads`.

cellsnp-lite and MQuad: read counts of each variant (row) in each cell (column); each file may be gzipped.
Ours: matrix.csv, matrix.geneNames and matrix.cellNames are in SCITE's format. Beside them are alternate.tsv
and total.tsv, the numbers of reads, or log_odds.tsv: rows are mutations and columns cells, both with names.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Evidence, Likelihoods
from syclade.host.data.input.formats.counts import numbers_of
from syclade.host.data.input.formats.grid import (
    Grid,
    ReadOptions,
    refuse_rows,
    refuse_two,
    unused_evidence,
    with_two,
)
from syclade.host.data.input.formats.hdf import require
from syclade.host.data.input.formats.likelihoods import likelihood_numbers
from syclade.host.data.input.formats.plain import values_of
from syclade.host.data.input.formats.reads import called, check_reads, reads_of, require_depth
from syclade.host.data.input.formats.records import Site
from syclade.host.data.input.formats.tabular import Table, fields_of
from syclade.host.data.input.names import default_names, read_name_file
from syclade.host.data.input.source import Source, lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import is_file
from syclade.host.ground.limits import MOST_BYTES
from syclade.host.ground.options import flag_of

__all__ = ["ALTERNATE", "LOG_ODDS", "MATRIX", "TOTAL", "read_cellsnp", "read_folder", "read_mquad"]

_SAMPLES = "cellSNP.samples.tsv"
_CELLSNP = ("cellSNP.tag.AD.mtx", "cellSNP.tag.DP.mtx")
_MQUAD = ("passed_ad.mtx", "passed_dp.mtx")
_NAMES = "passed_variant_names.txt"
_PACKED = ".gz"

_HEAD = re.compile(rb"^[ \t]*[^%\s].*$", re.MULTILINE)
"""First line that is neither empty nor a comment."""

_SIZE = re.compile(rb"^\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,10})\s*$")
_POINT = re.compile(rb"^\s*[0-9]+\s+[0-9]+\s+([-+]?[0-9]*[.][0-9]*(?:[eE][-+]?[0-9]+)?)\s*$", re.MULTILINE)
"""Entry with a decimal point."""

_ENTRY = re.compile(
    rb"\s*[0-9]+\s+[0-9]+(\s+([-+]?[0-9.]+([eE][-+]?[0-9]+)?|nan|[-+]?inf))?\s*", re.IGNORECASE
)


def read_cellsnp(path: Path, options: ReadOptions) -> Grid:
    """Read a folder of cellsnp-lite, and call genotypes from numbers of reads (`called`).

    Raises:
        MatrixError: a file is missing or damaged; ``min_depth`` is not given, or 0.
    """
    refuse_two(options, "mutations", str(path))
    require_depth(options, str(path))
    names, details = _sites(_part(path, "cellSNP.base.vcf"), options)
    return _grid(path, _CELLSNP, names, _names(_part(path, _SAMPLES)), details, options)


def read_mquad(path: Path, options: ReadOptions) -> Grid:
    """Read a folder of MQuad (Kwok et al. 2022), and call genotypes from numbers of reads (`called`).

    Its cells are those of cellsnp-lite, and have names if cellSNP.samples.tsv is copied into the folder.

    Raises:
        MatrixError: a file is missing or damaged; ``min_depth`` is not given, or 0.
    """
    refuse_two(options, "mutations", str(path))
    require_depth(options, str(path))
    samples = _part(path, _SAMPLES)
    cells = _names(samples) if samples.exists() else []
    return _grid(path, _MQUAD, _names(_part(path, _NAMES)), cells, (), options)


def _grid(
    path: Path,
    tables: Sequence[str],
    names: list[str],
    cells: list[str],
    details: Sequence[str],
    options: ReadOptions,
) -> Grid:
    """Return the calls of a folder.

    Args:
        path: the folder.
        tables: files with the numbers of alternate reads, and of all reads.
        names, details: names of the rows, and what distinguishes equal ones.
        cells: names of the columns; empty if there are none.
        options: the options.
    """
    require("scipy")
    file = _part(path, tables[0])
    alternate = _counts(file, len(names), len(cells) or None)
    depth = _counts(_part(path, tables[1]), *alternate.shape)
    reads = called(alternate, depth, options, str(file), lambda *place: _line_of(file, *place))
    return reads.grid(names, cells, details)


def _line_of(path: Path, row: int, column: int) -> int | None:
    """Return the line of an entry of a table of read counts; None if it is not in the file."""
    wanted, after_sizes = [b"%d" % (row + 1), b"%d" % (column + 1)], False
    for number, line in enumerate(_bytes(path).splitlines(), 1):
        fields = line.split()
        if not fields or line.startswith(b"%"):
            continue
        if after_sizes and fields[:2] == wanted:
            return number
        after_sizes = True
    return None


def _part(folder: Path, name: str) -> Path:
    """Return the path of a file, which may be gzipped."""
    packed = folder / f"{name}{_PACKED}"
    return packed if packed.exists() else folder / name


def _names(path: Path) -> list[str]:
    return [name.strip() for name in lines_of(_bytes(path), str(path)) if name.strip()]


def _sites(path: Path, options: ReadOptions) -> tuple[list[str], list[str]]:
    """Return the name of each row, and a text that distinguishes it from a row of the same name."""
    names = []
    for number, line in enumerate(lines_of(_bytes(path), str(path)), 1):
        fields = [field.strip() for field in line.split("\t")]
        if line.startswith("#") or not line.strip():
            continue
        if len(fields) < 5:
            raise MatrixError("the record has fewer than 5 columns", path=str(path), line=number)
        names.append(Site(*fields[:4]).names(fields[4], by_id=options.name_by == "id"))
    return [name for name, _ in names], [detail for _, detail in names]


def _counts(path: Path, rows: int, columns: int | None) -> NDArray[np.float64]:
    """Read a table of read counts; entries that are not in the file are 0.

    Args:
        path: a file in the Matrix Market format.
        rows, columns: size that the table must have; columns None for any.
    """
    import scipy.io

    data = _bytes(path)
    head = _HEAD.search(data[: 2**16])
    found = _SIZE.match(head[0]) if head else None
    sizes = (int(found[1]), int(found[2])) if found else (0, 0)
    if sizes != (rows, sizes[1] if columns is None else columns) or not 0 < sizes[0] * sizes[1] <= MOST_BYTES:
        cells = "" if columns is None else f" × {columns} cells"
        raise MatrixError(f"it is not a table of {rows} variants{cells}", path=str(path))
    assert head is not None
    assert found is not None
    _check_end(data, head.end(), int(found[3]), path)
    _check_whole(data, head.end(), path)
    try:
        table = np.asarray(scipy.io.mmread(io.BytesIO(data)).toarray(), dtype=np.float64)
    except Exception as problem:  # the parser may raise anything
        raise MatrixError(f"cannot be read as a Matrix Market file: {problem}", path=str(path)) from None
    wrong = np.argwhere(~(table >= 0))  # also nan
    if len(wrong):
        row, column = wrong[0].tolist()
        raise MatrixError(
            f"{table[row, column]:g} is no number of reads", path=str(path), line=_line_of(path, row, column)
        )
    return table


def _check_end(data: bytes, begin: int, entries: int, path: Path) -> None:
    """Check that a table of read counts has all of its entries: on others, scipy's reader may crash.

    Args:
        data: the text of the file, whose lines end with LF.
        begin: place after the line with the sizes.
        entries: number of entries by that line.
        path: the file, for messages.

    Raises:
        MatrixError: there are fewer entries, or the last one is cut.
    """
    end = len(data.rstrip())
    lines = data.count(b"\n", begin, end)
    last = data[data.rfind(b"\n", 0, end) + 1 : end]
    cut = lines > 0 and not _ENTRY.fullmatch(last)
    if lines - cut < entries:
        raise MatrixError(
            f"the file ends after {lines - cut} of {entries} entries",
            path=str(path),
            line=data.count(b"\n", 0, end) + 1,
            hint="copy it again",
        )


def _check_whole(data: bytes, begin: int, path: Path) -> None:
    """Check that no entry has a fraction: of a file that says it has none, scipy's reader leaves it out.

    Args:
        data, begin, path: as for `_check_end`.

    Raises:
        MatrixError: an entry has one.
    """
    if data.find(b".", begin) < 0:  # as in nearly all files
        return
    for one in _POINT.finditer(data, begin):
        if not float(one[1]).is_integer():
            raise MatrixError(
                f"{float(one[1]):g} is no number of reads",
                path=str(path),
                line=data.count(b"\n", 0, one.start(1)) + 1,
            )


def _bytes(path: Path) -> bytes:
    return Source.of(path).text()[0]


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
