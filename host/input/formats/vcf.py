"""VCF of single-cell callers: one record per site, one sample per cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.input.formats.lines import lines_of
from syclade.host.input.textfile import excerpt
from syclade.host.options import flag_of

__all__ = ["Records", "Site", "check_caller", "no_samples", "read_vcf"]

_FIXED = 9  # columns before the samples, FORMAT included
_UNSPECIFIED = frozenset((".", "*", "X", "<*>", "<X>", "<NON_REF>"))
"""Symbols in the column ALT that are no allele, or any other one: of VCF 4.3 (5.5), GATK and samtools."""

_PASSED = frozenset(("PASS", ".", ""))
_UNKNOWN = frozenset((".", "*", ""))
"""Identifiers that are none; SCIPhI writes an asterisk."""

_GENOTYPE = re.compile(r"(?:[0-9]{1,4}|\.)(?:[/|](?:[0-9]{1,4}|\.))*")


class Records:
    """Rows of the records of a VCF or BCF: one for each alternate allele, named CHROM:POS:REF/ALT.

    Args:
        asked: the options.
        path: the file, for messages.
    """

    def __init__(self, asked: Asked, path: str) -> None:
        self._only_passed, self._path = asked.filter == "pass", path
        self._names: list[str] = []
        self._identifiers: list[str] = []
        self._rows: list[NDArray[np.uint8]] = []
        self._number = 0
        self._failed: Counter[str] = Counter()

    def add(
        self, site: Site, alleles: Sequence[str], filters: str, row_of: Callable[[int], NDArray[np.uint8]]
    ) -> None:
        """Add a record with genotypes.

        Args:
            site: where it is.
            alleles: the alternate alleles; those that are unspecified are skipped.
            filters: the filters that it did not pass, as in the column FILTER.
            row_of: returns the values of the cells for an allele, from 1.
        """
        wanted = [(at, allele) for at, allele in enumerate(alleles, 1) if allele not in _UNSPECIFIED]
        if not wanted:
            return
        self._number += 1
        if filters not in _PASSED:
            self._failed[filters] += 1
            if self._only_passed:
                return
        for at, allele in wanted:
            self._names.append(f"{site.chrom}:{site.position}:{site.ref}/{allele}")
            self._identifiers.append("" if site.identifier in _UNKNOWN else site.identifier)
            self._rows.append(row_of(at))

    def grid(self, cells: Sequence[str]) -> Grid:
        """Return the values of all records; equal names are distinguished by the column ID.

        Raises:
            MatrixError: there are no records, or their names are equal.
        """
        note = self._note()
        if not self._rows:
            message = "no record has genotypes (GT) of an alternate allele"
            raise MatrixError(f"{message}: {note}" if note else message, path=self._path)
        grid = named_grid(np.stack(self._rows), self._names, cells, self._identifiers)
        return replace(grid, notes=(*grid.notes, note)) if note else grid

    def _note(self) -> str:
        """Return a line on the records that did not pass their filters; empty if there are none."""
        failed = self._failed.total()
        if not failed:
            return ""
        filters = ", ".join(f"{excerpt(name)} {count}" for name, count in self._failed.most_common(3))
        more = ", …" if len(self._failed) > 3 else ""
        done = (
            "are left out" if self._only_passed else f"are used; {flag_of('filter', 'pass')} leaves them out"
        )
        return f"{failed} of {self._number} records did not pass their filters ({filters}{more}) and {done}"


class Site(NamedTuple):
    """Columns of a record that tell where it is."""

    chrom: str
    position: str
    identifier: str
    ref: str


def read_vcf(data: bytes, path: str, asked: Asked) -> Grid:
    """Read VCF 4 (hts-specs): one row per alternate allele, named CHROM:POS:REF/ALT; samples are cells.

    The value is 0 for no copy of the allele, 1 for some, 2 for all (also one of one), and 3 for a genotype
    that is not known. Records without GT or without a specified alternate allele are skipped; with the option
    ``filter``, also those that did not pass. Calls with fewer than ``min_depth`` reads (DP) are missing.

    Raises:
        MatrixError: an error in the file, with the line; a file without samples; a file from SCIPhI, which
            also calls genotypes without reads, and ``min_depth`` is not given.
    """
    refuse_two(asked, "mutations", path)
    lines = lines_of(data, path)
    head = next((number for number, line in enumerate(lines) if re.match(r"#CHROM\s", line)), None)
    if head is None:
        raise MatrixError("the file has no line #CHROM", path=path, hint="is it a whole VCF?")
    cells = _samples(lines[head], path, head + 1)
    check_caller(lines[:head], asked, path)
    records = Records(asked, path)
    for number, line in enumerate(lines[head + 1 :], head + 2):
        fields = line.split("\t")
        if len(fields) != _FIXED + len(cells):
            raise MatrixError(
                f"the record has {len(fields)} columns, but the header {_FIXED + len(cells)}",
                path=path,
                line=number,
            )
        calls = _calls(fields, asked.min_depth, path, number)
        if calls is not None:
            chrom, position, identifier, ref, alleles, _, filters = (field.strip() for field in fields[:7])
            records.add(
                Site(chrom, position, identifier, ref),
                [allele.strip() for allele in alleles.split(",")],
                filters,
                partial(_row, calls),
            )
    return records.grid(cells)


def _samples(header: str, path: str, line: int) -> list[str]:
    """Return the names of the cells, from the line #CHROM.

    Raises:
        MatrixError: there are none, or there are blanks in place of tabs.
    """
    if "\t" not in header:
        raise MatrixError("the columns are separated by blanks, not by tabs", path=path, line=line)
    cells = [name.strip() for name in header.split("\t")[_FIXED:]]
    if not cells:
        raise no_samples(path, line)
    return cells


def no_samples(path: str, line: int | None = None) -> MatrixError:
    """Return the error of a file without samples."""
    return MatrixError(
        "the VCF has no samples, and so no genotypes of cells",
        path=path,
        line=line,
        hint="give one that has a sample for each cell",
    )


def check_caller(header: Iterable[str], asked: Asked, path: str) -> None:
    """Check that it is known which calls have reads: raise a MatrixError for SCIPhI's files.

    Args:
        header: the lines before the records.
        asked: the options; with ``min_depth``, the files are accepted.
        path: the file, for messages.
    """
    if asked.min_depth is None and any(line.startswith("##source=SCIPhI") for line in header):
        raise MatrixError(
            "SCIPhI also writes genotypes for cells without reads",
            path=path,
            hint=f"give the number of reads that a call needs: {flag_of('min_depth')} 1, or 0 for all",
        )


def _calls(fields: Sequence[str], min_depth: int | None, path: str, line: int) -> list[list[str]] | None:
    """Return the alleles of each cell in a record; None if the record has no genotypes."""
    keys = [key.strip() for key in fields[8].split(":")]
    if "GT" not in keys:
        return None
    if min_depth and "DP" not in keys:
        raise MatrixError(
            "the record has no DP", path=path, line=line, hint=f"leave out {flag_of('min_depth')}"
        )
    calls = []
    for number, sample in enumerate(fields[_FIXED:], 1):
        values = dict(zip(keys, sample.split(":"), strict=False))  # trailing fields may be omitted
        genotype = values["GT"].strip() if "GT" in values else "."
        if not _GENOTYPE.fullmatch(genotype):
            raise MatrixError(f"{excerpt(genotype)} (cell {number}) is not a genotype", path=path, line=line)
        depth = values.get("DP", ".").strip()
        if depth != "." and not re.fullmatch("[0-9]{1,9}", depth):
            raise MatrixError(f"{excerpt(depth)} (cell {number}) is not a DP", path=path, line=line)
        few = min_depth and (depth == "." or int(depth) < min_depth)
        calls.append(["."] if few else re.split("[/|]", genotype))
    return calls


def _row(calls: Sequence[Sequence[str]], which: int) -> NDArray[np.uint8]:
    """Return the values of the cells for an alternate allele, from 1."""
    return np.array([_value(call, str(which)) for call in calls], np.uint8)


def _value(call: Sequence[str], allele: str) -> int:
    """Return the value of a cell for an allele: 0, 1, 2 or 3."""
    if all(copy == "." for copy in call):
        return 3
    copies = sum(copy == allele for copy in call)
    return 0 if copies == 0 else 2 if copies == len(call) else 1
