"""Formats that are tables with names: separated by tabs or commas, scphylo's, ConDoR's and COMPASS'."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import FREQ
from syclade.host.data.input.formats.counts import of_pair, second_table
from syclade.host.data.input.formats.grid import (
    MISSING,
    PLAIN,
    Grid,
    ReadOptions,
    code,
    named_grid,
    refuse_rows,
    refuse_two,
    unused_evidence,
    with_two,
)
from syclade.host.data.input.formats.likelihoods import (
    check_coding,
    likelihood_numbers,
    likely_grid,
    odds_of_numbers,
)
from syclade.host.data.input.formats.reads import (
    Called,
    called,
    filtered,
    percent,
    reads_of,
    refuse_reads,
    require_depth,
)
from syclade.host.data.input.formats.tabular import Table, by_commas, read_table
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = ["read_compass", "read_condor", "read_csv", "read_sc", "read_tsv"]


_CLUSTER = "cluster_id"


def read_sc(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read scphylo's and PhISCS' table: separated by tabs, rows are cells; missing is 3 or "?".

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(options, "cells", path, f"{flag_of('format', 'tsv')} takes {flag_of('rows')}")
    return _read(read_table(data, path, "tsv"), replace(options, rows="cells"), path, "sc")


def read_tsv(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read a table separated by tabs, or by blanks; ``options.rows`` gives the meaning of its rows."""
    return _read(read_table(data, path, "tsv", numbers=_has_numbers(options)), options, path, "tsv")


def read_csv(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read a table separated by commas or semicolons; ``options.rows`` gives the meaning of its rows."""
    return _read(read_table(data, path, "csv", numbers=_has_numbers(options)), options, path, "csv")


def _has_numbers(options: ReadOptions) -> bool:
    """Return whether the entries of a table are numbers of reads, or likelihoods, in place of calls."""
    reads = options.total_reads is not None or options.ref_reads is not None
    return reads or options.evidence == "likelihoods"


def read_condor(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read ConDoR's table (Sashittal et al. 2023): separated by commas, rows are cells, -1 is missing.

    The last column is cluster_id, which is dropped.

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(options, "cells", path, f"{flag_of('format', 'csv')} takes {flag_of('rows')}")
    table = read_table(data, path, "csv")
    if table.columns[-1:] != (_CLUSTER,):
        raise MatrixError(
            f"the last column is not {_CLUSTER}", path=path, line=1, hint=f"{flag_of('format')} csv"
        )
    without = replace(table, columns=table.columns[:-1], entries=[row[:-1] for row in table.entries])
    return _read(without, replace(options, rows="cells"), path, "condor")


def _read(table: Table, options: ReadOptions, path: str, form: str) -> Grid:
    """Return the values and names of a table.

    Raises:
        MatrixError: `rows` is not given, or 2 occurs and `two` is not given; invalid names or values.
    """
    if options.rows is None:
        raise MatrixError(
            "this is a table with names, whose rows may be cells or mutations",
            path=path,
            line=1,
            hint=f"give {flag_of('format', form)} {flag_of('rows', 'cells')}, or "
            f"{flag_of('rows', 'mutations')}",
        )
    coding = check_coding(options, second=options.absent is not None, path=path)
    if coding is not None:
        return _likely(table, options, coding, path, form)
    if options.coding is not None:
        hint = f"leave out {flag_of('coding')}, or give {flag_of('two')}"
        raise OptionError(f"{flag_of('coding', options.coding)} is for layers", hint=hint)
    if options.total_reads is not None or options.ref_reads is not None:
        return of_pair(table, options, path, form)
    refuse_reads(options, path, f"{flag_of('total_reads')} FILE or {flag_of('ref_reads')} FILE")
    if _CLUSTER in table.columns:
        raise MatrixError(
            f"the column {_CLUSTER} is not a mutation",
            path=path,
            line=1,
            hint=f"use {flag_of('format')} condor",
        )
    values = with_two(code(table.entries, PLAIN | MISSING, table.lines, path), options, path)
    if options.rows == "cells":
        return named_grid(values.T, table.columns, table.names)
    return named_grid(values, table.names, table.columns)


def _likely(table: Table, options: ReadOptions, coding: str, path: str, form: str) -> Grid:
    """Return the log odds of a table of probabilities, log odds or likelihoods, and maybe of a second one.

    Args:
        table, options, path, form: the table, the options, and the file and its format.
        coding: as `check_coding` returns it.
    """
    refuse_reads(options, path, flag_of("evidence", "reads"))
    mutated, absent = likelihood_numbers(table, path), None
    also: tuple[str, ...] = ()
    if options.absent is not None:
        absent, digest = second_table(table, options.absent, path, form, likelihood_numbers)
        also = (digest,)
    odds = odds_of_numbers(mutated, absent, coding, path, table.lines)
    if options.rows == "cells":
        return replace(likely_grid(odds.T, table.columns, table.names, options), also=also)
    return replace(likely_grid(odds, table.names, table.columns, options), also=also)


logger = logging.getLogger("syclade.input")

_PLACE = ("CHR", "POS", "REF", "ALT")
_KEPT = ("REGION", FREQ)
_ABOUT = (*_PLACE, "NAME", *_KEPT)

_NO_GENOTYPE = -1
_READS = re.compile(r"([0-9]{1,9}):([0-9]{1,9})(?::([0-3]))?")


def read_compass(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read COMPASS' `*_variants.csv` (Sollier et al. 2023): rows are mutations; ref:alt or ref:alt:genotype.

    Genotypes are filtered by their reads, and entries without a genotype are called from their reads
    (`called`). Variants of one NAME are distinguished by their positions and alleles.

    Raises:
        MatrixError: an error in the file, with the line; no genotypes, and ``min_depth`` is not given, or 0.
    """
    refuse_two(options, "mutations", path)
    rows = by_commas(data, path)
    header = [name.strip() for name in rows[0]]
    if "NAME" not in header:
        raise MatrixError("the table has no column NAME", path=path, line=1)
    place = [header.index(name) for name in _PLACE] if set(_PLACE) <= set(header) else []
    columns = [column for column, name in enumerate(header) if name not in _ABOUT]
    cells = [header[column] for column in columns]
    names, places, entries = [], [], []
    kept: dict[str, list[str]] = {name: [] for name in _KEPT if name in header}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise MatrixError(
                f"the row has {len(row)} fields, but the header {len(header)}", path=path, line=number
            )
        names.append(row[header.index("NAME")].strip())
        if place:
            chrom, position, ref, alt = (row[column].strip() for column in place)
            places.append(f"{chrom}:{position}:{ref}/{alt}")
        for name, texts in kept.items():
            texts.append(row[header.index(name)].strip())
        entries.append([_entry(row[column], options, path, number) for column in columns])
    if not entries or not cells:
        missing = "cells" if entries else "rows of variants"
        raise MatrixError(f"the table has a header, but no {missing}", path=path, line=1)
    grid = _called(np.array(entries, np.int64), options, path).grid(names, cells, places)
    read = grid.mutations or ()
    about = {
        column: {name: text for name, text in zip(read, texts, strict=True) if text}
        for column, texts in kept.items()
    }
    return replace(grid, about=about)


def _called(entries: NDArray[np.int64], options: ReadOptions, path: str) -> Called:
    """Return the genotypes, filtered or called, with their reads.

    Args:
        entries: shape (mutations, cells, 3): reference reads, alternate reads, and the genotype, or -1.
        options: the options.
        path: the file, for messages.
    """
    reference, alternate, genotypes = np.moveaxis(entries, 2, 0)
    depth = reference + alternate
    values = filtered(genotypes.astype(np.uint8), options, depth, share=percent(alternate, depth))
    without = genotypes == _NO_GENOTYPE
    if not without.any():
        return Called(values, unused_evidence(options, "reads"), reads_of(alternate, depth, options))
    reads = called(alternate, depth, options, path)
    return reads._replace(values=np.where(without, reads.values, values))


def _entry(text: str, options: ReadOptions, path: str, line: int) -> tuple[int, int, int]:
    """Return the reference reads, the alternate reads and the genotype of an entry."""
    match = _READS.fullmatch(text.strip())
    if match is None:
        raise MatrixError(f"{excerpt(text)} is not ref:alt or ref:alt:genotype", path=path, line=line)
    if match[3] is None:
        require_depth(options, path, line)
    return int(match[1]), int(match[2]), _NO_GENOTYPE if match[3] is None else int(match[3])
