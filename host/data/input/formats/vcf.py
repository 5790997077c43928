"""VCF and BCF of single-cell callers: one record per site, one sample per cell.

Text is read here, BCF by htslib (cyvcf2); both give the same rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import Grid, ReadOptions, named_grid, refuse_two
from syclade.host.data.input.formats.hdf import require
from syclade.host.data.input.formats.reads import Numbers, wants_share
from syclade.host.data.input.textfile import excerpt, lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from cyvcf2 import Variant

__all__ = ["Records", "Site", "check_caller", "check_numbers", "no_samples", "read_bcf", "read_vcf"]


_FIXED = 9  # columns before the samples, FORMAT included
_UNSPECIFIED = frozenset((".", "*", "X", "<*>", "<X>", "<NON_REF>"))
"""Symbols in the column ALT that are no allele, or any other one: of VCF 4.3 (5.5), GATK and samtools."""

_PASSED = frozenset(("PASS", ".", ""))
_UNKNOWN = frozenset((".", "*", ""))
"""Identifiers that are none; SCIPhI writes an asterisk."""

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,20})?(?:[eE]-?[0-9]{1,2})?")
_GENOTYPE = re.compile(r"(?:[0-9]{1,4}|\.)(?:[/|](?:[0-9]{1,4}|\.))*")


class Records:
    """Rows of the records of a VCF or BCF: one for each alternate allele, named CHROM:POS:REF/ALT.

    Args:
        options: the options.
        path: the file, for messages.
    """

    def __init__(self, options: ReadOptions, path: str) -> None:
        self._only_passed, self._path = options.filter == "pass", path
        self._by_id = options.name_by == "id"
        self._names: list[str] = []
        self._details: list[str] = []
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
            name, detail = site.names(allele, by_id=self._by_id)
            self._names.append(name)
            self._details.append(detail)
            self._rows.append(row_of(at))

    def grid(self, cells: Sequence[str]) -> Grid:
        """Return the values of all records; equal names are distinguished by the column ID, or by the site.

        Raises:
            MatrixError: there are no records, or their names are equal.
        """
        note = self._note()
        if not self._rows:
            message = "no record has genotypes (GT) of an alternate allele"
            raise MatrixError(f"{message}: {note}" if note else message, path=self._path)
        grid = named_grid(np.stack(self._rows), self._names, cells, self._details)
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

    def names(self, allele: str, *, by_id: bool) -> tuple[str, str]:
        """Return the name of an alternate allele, and what distinguishes it from an equal name.

        Args:
            allele: the allele.
            by_id: whether the column ID has the names; the site is the name where it has none.
        """
        place = f"{self.chrom}:{self.position}:{self.ref}/{allele}"
        identifier = "" if self.identifier in _UNKNOWN else self.identifier
        return (identifier, place) if by_id and identifier else (place, identifier)


def read_vcf(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read VCF 4 (hts-specs): one row per alternate allele, named CHROM:POS:REF/ALT; samples are cells.

    The value is 0 for no copy of the allele, 1 for some, 2 for all (also one of one), and 3 for a genotype
    that is not known. Records without GT or without a specified alternate allele are skipped; with the option
    ``filter``, also those that did not pass. Calls that do not pass ``min_depth`` (DP, or the sum of AD),
    ``min_gq`` (GQ) or the limits of alternate reads (AD, AF or VAF) are missing, or 0 below ``min_vaf``.

    Raises:
        MatrixError: an error in the file, with the line; a file without samples; a file from SCIPhI, which
            also calls genotypes without reads, and ``min_depth`` is not given.
    """
    refuse_two(options, "mutations", path)
    lines = lines_of(data, path)
    head = next((number for number, line in enumerate(lines) if re.match(r"#CHROM\s", line)), None)
    if head is None:
        raise MatrixError("the file has no line #CHROM", path=path, hint="is it a whole VCF?")
    cells = _samples(lines[head], path, head + 1)
    check_caller(lines[:head], options, path)
    records = Records(options, path)
    for number, line in enumerate(lines[head + 1 :], head + 2):
        fields = line.split("\t")
        if len(fields) != _FIXED + len(cells):
            raise MatrixError(
                f"the record has {len(fields)} columns, but the header {_FIXED + len(cells)}",
                path=path,
                line=number,
            )
        keys = [key.strip() for key in fields[8].split(":")]
        if "GT" in keys:
            samples = [dict(zip(keys, sample.split(":"), strict=False)) for sample in fields[_FIXED:]]
            numbers = _numbers(keys, samples, options, path, number)
            calls = _calls(samples, path, number)
            chrom, position, identifier, ref, alleles, _, filters = (field.strip() for field in fields[:7])
            records.add(
                Site(chrom, position, identifier, ref),
                [allele.strip() for allele in alleles.split(",")],
                filters,
                partial(_row, calls, numbers, options),
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


def check_caller(header: Iterable[str], options: ReadOptions, path: str) -> None:
    """Check that it is known which calls have reads: raise a MatrixError for SCIPhI's files.

    Args:
        header: the lines before the records.
        options: the options; with ``min_depth``, the files are accepted.
        path: the file, for messages.
    """
    if options.min_depth is None and any(line.startswith("##source=SCIPhI") for line in header):
        raise MatrixError(
            "SCIPhI also writes genotypes for cells without reads",
            path=path,
            hint=f"give the number of reads that a call needs: {flag_of('min_depth')} 1, or 0 for all",
        )


def _calls(samples: Sequence[Mapping[str, str]], path: str, line: int) -> list[list[str]]:
    """Return the alleles of each cell in a record."""
    calls = []
    for number, values in enumerate(samples, 1):
        genotype = values["GT"].strip() if "GT" in values else "."
        if not _GENOTYPE.fullmatch(genotype):
            raise MatrixError(f"{excerpt(genotype)} (cell {number}) is not a genotype", path=path, line=line)
        calls.append(re.split("[/|]", genotype))
    return calls


def _numbers(
    keys: Sequence[str], samples: Sequence[Mapping[str, str]], options: ReadOptions, path: str, line: int
) -> Numbers:
    """Return those numbers of the cells in a record that the options need.

    Raises:
        MatrixError: a field is not a number, or an option needs one that the record does not have.
    """

    def table(wanted: bool, *names: str) -> NDArray[np.float64] | None:
        name = next((name for name in names if name in keys), None) if wanted else None
        return None if name is None else _table(samples, name, path, line)

    share = wants_share(options)
    depth, quality = table(True, "DP"), table(options.min_gq is not None, "GQ")
    numbers = Numbers(
        None if depth is None else depth[:, 0],
        None if quality is None else quality[:, 0],
        table(share or bool(options.min_depth), "AD"),
        table(share, "AF", "VAF"),
    )
    check_numbers(numbers, options, "the record", path, line)
    return numbers


def check_numbers(
    numbers: Numbers, options: ReadOptions, record: str, path: str, line: int | None = None
) -> None:
    """Raise a MatrixError if an option needs a field that a record does not have."""
    lacks = numbers.lacks(options)
    if lacks is not None:
        field, unusable = lacks
        hint = f"leave out {', '.join(map(flag_of, unusable))}"
        raise MatrixError(f"{record} has no {field}", path=path, line=line, hint=hint)


def _table(samples: Sequence[Mapping[str, str]], name: str, path: str, line: int) -> NDArray[np.float64]:
    """Return the numbers of a field: shape (cells, most numbers of a cell), NaN for those not given."""
    rows = [sample.get(name, ".").strip().split(",") for sample in samples]  # trailing fields may be omitted
    numbers = np.full((len(rows), max(map(len, rows))), np.nan)
    for cell, row in enumerate(rows):
        for at, text in enumerate(row):
            if text in (".", ""):
                continue
            if not _NUMBER.fullmatch(text):
                raise MatrixError(f"{excerpt(text)} (cell {cell + 1}) is not a {name}", path=path, line=line)
            numbers[cell, at] = float(text)
    return numbers


def _row(
    calls: Sequence[Sequence[str]], numbers: Numbers, options: ReadOptions, which: int
) -> NDArray[np.uint8]:
    """Return the values of the cells for an alternate allele, from 1."""
    values = np.array([_value(call, str(which)) for call in calls], np.uint8)
    return numbers.filtered(values, which, options)


def _value(call: Sequence[str], allele: str) -> int:
    """Return the value of a cell for an allele: 0, 1, 2 or 3."""
    if all(copy == "." for copy in call):
        return 3
    copies = sum(copy == allele for copy in call)
    return 0 if copies == 0 else 2 if copies == len(call) else 1


def read_bcf(path: Path, options: ReadOptions) -> Grid:
    """Read one row per alternate allele, named CHROM:POS:REF/ALT, with values as in `read_vcf`.

    Raises:
        MatrixError: htslib cannot read the file, or no record has genotypes of an alternate allele; a file
            from SCIPhI, and ``min_depth`` is not given.
    """
    refuse_two(options, "mutations", str(path))
    require("cyvcf2")
    import cyvcf2

    records = Records(options, str(path))
    try:
        reader = cyvcf2.VCF(str(path))
        check_caller(str(reader.raw_header).splitlines(), options, str(path))
        cells = [str(name).strip() for name in reader.samples]
        if not cells:
            raise no_samples(str(path))
        for record in reader:
            if "GT" in record.FORMAT:
                site = Site(record.CHROM, record.POS, record.ID or ".", record.REF)
                records.add(site, record.ALT, record.FILTER or "PASS", _rows(record, options, str(path)))
    except MatrixError:
        raise
    except Exception as problem:  # cyvcf2 raises plain Exception
        raise MatrixError(f"htslib cannot read it: {problem}", path=str(path)) from None
    return records.grid(cells)


def _rows(record: Variant, options: ReadOptions, path: str) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that returns the values of the cells for an alternate allele, from 1."""
    alleles = record.genotype.array()[:, :-1]  # -1 is missing, -2 is padding for fewer copies
    numbers = _numbers_of(record, options)
    check_numbers(numbers, options, f"the record {record.CHROM}:{record.POS}", path)
    known, copies = (alleles >= 0).sum(axis=1), (alleles != -2).sum(axis=1)

    def row_of(number: int) -> NDArray[np.uint8]:
        seen = (alleles == number).sum(axis=1)
        row = np.where(seen == 0, 0, np.where(seen == copies, 2, 1))
        return numbers.filtered(np.where(known == 0, 3, row).astype(np.uint8), number, options)

    return row_of


def _numbers_of(record: Variant, options: ReadOptions) -> Numbers:
    """Return those numbers of the cells in a record that the options need."""

    def table(wanted: bool, *names: str) -> NDArray[np.float64] | None:
        name = next((name for name in names if name in record.FORMAT), None) if wanted else None
        found = None if name is None else record.format(name)
        if found is None or found.dtype.kind not in "iuf":
            return None
        return np.where(found < 0, np.nan, found.astype(np.float64))  # htslib has negative numbers for "."

    share = wants_share(options)
    depth, quality = table(bool(options.min_depth) or share, "DP"), table(options.min_gq is not None, "GQ")
    return Numbers(
        None if depth is None else depth[:, 0],
        None if quality is None else quality[:, 0],
        table(share or bool(options.min_depth), "AD"),
        table(share, "AF", "VAF"),
    )
