"""Records of VCF and BCF: which are read, the names of their alleles, and rows of calls and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Evidence, Likelihoods
from syclade.host.data.input.formats.grid import Grid, ReadOptions, named_grid, unused_evidence
from syclade.host.data.input.formats.likelihoods import FIELDS, NOISE, CallerLikelihoods
from syclade.host.data.input.formats.reads import Numbers, check_reads, reads_of, wants_share
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, excerpt

__all__ = [
    "Records",
    "Row",
    "Site",
    "are_unspecified",
    "check_caller",
    "check_numbers",
    "likelihood_fields",
    "no_samples",
    "reads_of_alleles",
]

_UNSPECIFIED = frozenset((".", "*", "X", "<*>", "<X>", "<NON_REF>"))
"""Symbols in the column ALT that are no allele, or any other one: of VCF 4.3 (5.5), GATK and samtools."""

_EVIDENCE = {"likelihoods": FIELDS, "reads": ("AD", "AO", "AU")}
"""Fields of a record that have evidence; those of reads are of most callers, of freebayes and of Strelka."""

_DEEP, _PER_WEAK = 20, 10
"""Least reads of a call of both alleles that is weak if fewer than one read in so many is alternate."""

_PASSED = frozenset(("PASS", ".", ""))
_UNKNOWN = frozenset((".", "*", ""))
"""Identifiers that are none; SCIPhI writes an asterisk."""


class Row(NamedTuple):
    """An alternate allele in all cells: its calls, and its evidence (`Numbers.evidence`)."""

    values: NDArray[np.uint8]
    evidence: tuple[NDArray[np.float64], ...] = ()


class Records:
    """Rows of the records of a VCF or BCF: one for each alternate allele, named CHROM:POS:REF/ALT.

    Args:
        options: the options.
        path: the file, for messages.
    """

    def __init__(self, options: ReadOptions, path: str) -> None:
        self._options, self._path = options, path
        self._by_id = options.name_by == "id"
        self.likelihoods = CallerLikelihoods()
        self._names: list[str] = []
        self._details: list[str] = []
        self._rows: list[Row] = []
        self._lines: list[int | None] = []
        self._fields: set[str] = set()
        self._number = 0
        self._failed: Counter[str] = Counter()
        self._unused: set[str] = set()
        self._mixed = self._weak = 0
        self._weakest = (1, 1)

    def count_reads(self, reads: Iterable[Sequence[int]]) -> None:
        """Count calls of both alleles, and those of them that rest on few of many reads.

        Args:
            reads: the field AD of each of these calls: reads of the reference, and of each alternate allele.
        """
        for one in reads:
            self._mixed += 1
            alternate, total = max(one[1:], default=0), sum(one)
            if total >= _DEEP and _PER_WEAK * alternate < total:
                self._weak += 1
                if alternate * self._weakest[1] < self._weakest[0] * total:
                    self._weakest = (alternate, total)

    def _weak_calls(self) -> tuple[str, ...]:
        """Return a line on the calls that rest on few of many reads, if there are any."""
        if not self._weak:
            return ()
        alternate, total = self._weakest
        return (
            f"{self._weak} of {counted(self._mixed, 'call', 'calls')} of both alleles have fewer than "
            f"{100 // _PER_WEAK} % of alternate reads (such as {alternate} of {total}), and "
            f"count like all others: {flag_of('evidence', 'reads')} is recommended, which weighs the reads",
        )

    def uses(self, fields: Iterable[str], alleles: Sequence[str]) -> bool:
        """Return whether a record with these fields and alternate alleles has genotypes, or the evidence."""
        fields = set(fields)
        if self._options.evidence != "calls" and _UNSPECIFIED.issuperset(alleles):
            return False
        used = not fields.isdisjoint(("GT", *_EVIDENCE.get(self._options.evidence, ())))
        if not used:
            self._unused.update(fields)
        return used

    def add(
        self,
        site: Site,
        alleles: Sequence[str],
        filters: str,
        row_of: Callable[[int], Row],
        fields: Iterable[str],
        line: int | None = None,
    ) -> None:
        """Add a record with genotypes or evidence.

        Args:
            site: where it is.
            alleles: the alternate alleles; those that are unspecified are skipped.
            filters: the filters that it did not pass, as in the column FILTER.
            row_of: returns the row of an allele, from 1.
            fields: the fields of its cells.
            line: its line, if the file has lines.
        """
        wanted = [(at, allele) for at, allele in enumerate(alleles, 1) if allele not in _UNSPECIFIED]
        if not wanted:
            return
        self._number += 1
        if filters not in _PASSED:
            self._failed[filters] += 1
            if self._options.filter == "pass":
                return
        self._fields.update(fields)
        for at, allele in wanted:
            name, detail = site.names(allele, by_id=self._by_id)
            self._names.append(name)
            self._details.append(detail)
            self._rows.append(row_of(at))
            self._lines.append(line)

    def grid(self, cells: Sequence[str]) -> Grid:
        """Return the values of all records; equal names are distinguished by the column ID, or by the site.

        Raises:
            MatrixError: there are no records, or their names are equal; their evidence contradicts itself.
        """
        note = self._note()
        if not self._rows:
            needs = _EVIDENCE.get(self._options.evidence, ())
            message = f"no record has genotypes ({', '.join(('GT', *needs))}) of an alternate allele"
            others = [kind for kind, names in _EVIDENCE.items() if not self._unused.isdisjoint(names)]
            flags = " or ".join(flag_of("evidence", kind) for kind in others)
            hint = f"{flags} uses what the records have" if flags and not note else None
            raise MatrixError(f"{message}: {note}" if note else message, path=self._path, hint=hint)
        values = np.stack([row.values for row in self._rows])
        unused = [kind for kind, names in _EVIDENCE.items() if not self._fields.isdisjoint(names)]
        notes = (*self.likelihoods.notes(self._path), *unused_evidence(self._options, *unused))
        notes += self._weak_calls()
        grid = named_grid(values, self._names, cells, self._details, evidence=self._stacked(), notes=notes)
        return replace(grid, notes=(*grid.notes, note)) if note else grid

    def _stacked(self) -> Evidence | None:
        """Return the evidence of all rows; None if it is not requested."""
        if self._options.evidence == "calls":
            return None
        first = np.stack([row.evidence[0] for row in self._rows])
        if self._options.evidence == "likelihoods":
            return Likelihoods(first)
        total = np.stack([row.evidence[1] for row in self._rows])
        check_reads(first, total, self._options, self._path, lambda row, cell: self._lines[row])
        return reads_of(first, total, self._options)

    def _note(self) -> str:
        """Return a line on the records that did not pass their filters; empty if there are none."""
        failed = self._failed.total()
        if not failed:
            return ""
        filters = ", ".join(f"{excerpt(name)} {count}" for name, count in self._failed.most_common(3))
        more = ", …" if len(self._failed) > 3 else ""
        done = (
            "are left out"
            if self._options.filter == "pass"
            else f"are used; {flag_of('filter', 'pass')} leaves them out"
        )
        return f"{failed} of {self._number} records did not pass their filters ({filters}{more}) and {done}"


class Site(NamedTuple):
    """Columns of a record that tell where it is."""

    chrom: str
    position: str
    identifier: str
    ref: str

    def names(self, allele: str, *, by_id: bool) -> tuple[str, str]:
        """Return the name of an alternate allele, and a text that distinguishes it from an equal name.

        Args:
            allele: the allele.
            by_id: whether the column ID has the names; the site is the name where it has none.
        """
        place = f"{self.chrom}:{self.position}:{self.ref}/{allele}"
        identifier = "" if self.identifier in _UNKNOWN else self.identifier
        return (identifier, place) if by_id and identifier else (place, identifier)


def no_samples(path: str, line: int | None = None) -> MatrixError:
    """Return the error of a file without samples."""
    return MatrixError(
        "the VCF has no samples, and so no genotypes of cells",
        path=path,
        line=line,
        hint="give one that has a sample for each cell",
    )


def likelihood_fields(header: Iterable[str]) -> dict[str, str]:
    """Return the fields that may have likelihoods, and the field whose meaning each has.

    Args:
        header: the lines before the records. SCcaller describes its four likelihoods there, which some of its
            versions write as PL.
    """
    noisy = any(line.startswith("##FORMAT=<ID=PL,") and NOISE in line for line in header)
    return {name: "FPL" if name == "PL" and noisy else name for name in FIELDS}


def check_caller(header: Iterable[str], options: ReadOptions, path: str) -> ReadOptions:
    """Check that it is known which calls have reads, and what PL are: raise a MatrixError for SCIPhI's files.

    Args:
        header: the lines before the records.
        options: the options; with ``min_depth``, or where reads are evidence, the files are accepted.
        path: the file, for messages.

    Returns:
        The options; where reads are evidence, SCIPhI's calls need one.
    """
    if not any(line.startswith("##source=SCIPhI") for line in header):
        return options
    if options.evidence == "likelihoods":
        raise MatrixError(
            "SCIPhI's PL are posterior probabilities of its calls, not likelihoods of genotypes",
            path=path,
            hint=f"use its reads: {flag_of('evidence', 'reads')}",
        )
    if options.min_depth is None:
        if options.evidence == "reads":
            return replace(options, min_depth=1)
        raise MatrixError(
            "SCIPhI also writes genotypes for cells without reads",
            path=path,
            hint=f"give the number of reads that a call needs: {flag_of('min_depth')} 1, or 0 for all",
        )
    return options


def reads_of_alleles(
    table: Callable[[str], NDArray[np.float64] | None],
    fields: Iterable[str],
    ref: str,
    alleles: Sequence[str],
) -> NDArray[np.float64] | None:
    """Return the reads of the reference and of each alternate allele: `Numbers.reads`.

    They are AD; or RO and AO, as freebayes writes; or the bases that Strelka counts in its first tier (AU,
    CU, GU, TU). None if a record has none of these.

    Args:
        table: returns the numbers of a field, shape (cells, numbers), or None.
        fields: the fields of the record.
        ref, alleles: its reference, and its alternate alleles.
    """
    fields = set(fields)
    bases = [f"{allele.upper()}U" for allele in (ref, *alleles) if allele not in _UNSPECIFIED]
    if "AD" in fields:
        return table("AD")
    if fields.issuperset(("RO", "AO")):
        found = [table("RO"), table("AO")]
    elif fields.issuperset(bases):
        found = [None if (one := table(base)) is None else one[:, :1] for base in bases]
    else:
        return None
    known = [one for one in found if one is not None]
    return np.column_stack(known) if len(known) == len(found) else None


def are_unspecified(alleles: Iterable[str]) -> list[bool]:
    """Return which alternate alleles are none, such as <NON_REF>; a deletion of the site (*) is one."""
    return [allele in _UNSPECIFIED and allele != "*" for allele in alleles]


def check_numbers(
    numbers: Numbers, options: ReadOptions, record: str, alternates: int, path: str, line: int | None = None
) -> None:
    """Raise a MatrixError if an option needs a field that a record does not have, or cannot tell alleles."""
    reads, expected = numbers.reads, (1, 2) if alternates == 1 else (alternates + 1,)
    used = options.evidence == "reads" or wants_share(options) or numbers.depth is None
    if used and reads is not None and reads.shape[1] not in expected and not np.isnan(reads).all():
        raise MatrixError(
            f"{record} has {counted(reads.shape[1], 'number', 'numbers')} of AD, not {alternates + 1}, "
            "one for each allele",
            path=path,
            line=line,
            hint="split records of several alternates (bcftools norm -m-), or leave them out",
        )
    lacks = numbers.lacks(options)
    if lacks is not None:
        field, unusable = lacks
        hint = f"leave out {', '.join(map(flag_of, unusable))}, or the records without it"
        raise MatrixError(f"{record} has no {field}", path=path, line=line, hint=hint)
