"""Numbers of reads: as evidence, or for calls, and filters of calls by their reads.

A mutation is called where a cell has enough reads, and enough of them are alternate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Evidence, Reads
from syclade.host.data.input.formats.grid import Grid, ReadOptions, named_grid, unused_evidence
from syclade.host.data.input.formats.likelihoods import FIELDS, GenotypeLikelihoods
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array, counted

__all__ = [
    "HOMOZYGOUS",
    "MIN_VAF",
    "SHARES",
    "Called",
    "Numbers",
    "called",
    "check_reads",
    "filtered",
    "percent",
    "reads_of",
    "refuse_reads",
    "require_depth",
    "wants_share",
]

SHARES = ("min_vaf", "vaf_ref", "vaf_het", "vaf_hom")
"""Options that need percentages of alternate reads."""

MIN_VAF = 10.0
"""Percentage of alternate reads from which a cell has a mutation, without --min-vaf."""

HOMOZYGOUS = 90.0
"""Percentage of alternate reads from which a mutation is homozygous, without --vaf-hom."""

_MOST = 2**31 - 1
"""Maximum number of reads of an entry: they are stored as int32."""

_ABSENT, _MUTATION, _HOMOZYGOUS, _MISSING = (np.uint8(value) for value in range(4))


def require_depth(options: ReadOptions, path: str, line: int | None = None) -> int:
    """Return the number of reads that a call needs.

    Where the reads themselves are evidence, one is enough for a call.

    Raises:
        MatrixError: it is not given, or 0.
    """
    if options.evidence == "reads" and options.min_depth is None:
        return 1
    if not options.min_depth:
        raise MatrixError(
            "there are numbers of reads, and no genotypes",
            path=path,
            line=line,
            hint=f"give the number of reads that a call needs, 1 or more: {flag_of('min_depth')} N; or "
            f"{flag_of('evidence', 'reads')}, which needs no calls",
        )
    return options.min_depth


def refuse_reads(options: ReadOptions, path: str, needs: str) -> None:
    """Refuse options for numbers of reads where there are none.

    Args:
        options: the options.
        path: the file, for messages.
        needs: the option that states where the numbers are.

    Raises:
        MatrixError: one of these options is given.
    """
    names = [name for name in ("min_depth", *SHARES) if getattr(options, name) is not None]
    flags = [flag_of("evidence", "reads")] * (options.evidence == "reads") + list(map(flag_of, names))
    if flags:
        raise MatrixError(
            f"{flags[0]} is for numbers of reads", path=path, hint=f"leave it out, or give {needs}"
        )


class Called(NamedTuple):
    """Calls from numbers of reads or from likelihoods.

    Attributes:
        values: uint8, shape (n_mutations, n_cells).
        notes: lines for the log, such as the limits of calls.
        evidence: the numbers themselves, if they are requested; or likelihoods, from which the calls are.
    """

    values: NDArray[np.uint8]
    notes: tuple[str, ...]
    evidence: Evidence | None

    def grid(self, mutations: Sequence[str], cells: Sequence[str], details: Sequence[str] = ()) -> Grid:
        """Return them with names, as `named_grid` does."""
        return named_grid(self.values, mutations, cells, details, evidence=self.evidence, notes=self.notes)


def called(
    alternate: Array,
    depth: Array,
    options: ReadOptions,
    path: str,
    line_of: Callable[[int, int], int | None] = lambda mutation, cell: None,
) -> Called:
    """Call genotypes from numbers of reads.

    Args:
        alternate: number of alternate reads, shape (n_mutations, n_cells); NaN where it is not known.
        depth: number of all reads; NaN where it is not known.
        options: the options. A call with fewer than ``min_depth`` reads is missing. Others are 0 without
            alternate reads or below ``min_vaf`` per cent of them (10 by default), 2 from ``vaf_hom`` per cent
            (90 by default), and else 1; a 0 above ``vaf_ref`` is missing.
        path: the file, for messages.
        line_of: returns the line of a mutation and a cell in the file, if it has one.

    Raises:
        MatrixError: ``min_depth`` is needed and not given, or 0; or these are no numbers of reads
            (`check_reads`).
    """
    least = require_depth(options, path)
    check_reads(alternate, depth, options, path, line_of)
    min_vaf = MIN_VAF if options.min_vaf is None else options.min_vaf
    vaf_hom = HOMOZYGOUS if options.vaf_hom is None else options.vaf_hom
    share = percent(alternate, depth)
    mutated = np.where(share >= vaf_hom, _HOMOZYGOUS, _MUTATION)
    values = np.where((alternate > 0) & (share >= min_vaf), mutated, _ABSENT)
    bad = ~(depth >= least) | np.isnan(alternate)
    if options.vaf_ref is not None:
        bad |= (values == _ABSENT) & (share > options.vaf_ref)
    note = (
        f"called from numbers of reads: a mutation from {min_vaf:g} % of alternate reads "
        f"({flag_of('min_vaf')}), homozygous from {vaf_hom:g} % ({flag_of('vaf_hom')}), "
        f"missing below {counted(least, 'read', 'reads')} ({flag_of('min_depth')})"
    )
    notes = (note, *unused_evidence(options, "reads"))
    return Called(np.where(bad, _MISSING, values), notes, reads_of(alternate, depth, options))


def check_reads(
    alternate: Array,
    depth: Array,
    options: ReadOptions,
    path: str,
    line_of: Callable[[int, int], int | None] = lambda mutation, cell: None,
) -> None:
    """Check numbers of reads.

    Args:
        alternate, depth, options, path, line_of: as for `called`.

    Raises:
        MatrixError: there are more alternate reads than reads; or, where they are evidence, a number is
            negative, fractional or too large.
    """
    fraction = "give numbers of reads, not shares or normalised numbers"
    problems = [
        (
            alternate > depth,
            "are numbers of alternate and of all reads exchanged, or are these reference reads?",
        )
    ]
    if options.evidence == "reads":
        for table in (alternate, depth):
            problems.append((table < 0, "give numbers from 0"))
            problems.append((table > _MOST, f"give numbers to {_MOST}"))
            problems.append(((table != np.floor(table)) & ~np.isnan(table), fraction))
    for wrong, hint in problems:
        if wrong.any():
            row, cell = (int(at) for at in np.argwhere(wrong)[0])
            reads = f"{alternate[row, cell]:g} alternate reads of {depth[row, cell]:g}"
            raise MatrixError(
                f"mutation {row + 1} has {reads} in cell {cell + 1}",
                path=path,
                line=line_of(row, cell),
                hint=hint,
            )


def reads_of(alternate: Array, depth: Array, options: ReadOptions) -> Reads | None:
    """Return checked numbers of reads as evidence, if it is requested; those not known are 0 of 0."""
    if options.evidence != "reads":
        return None
    known = ~(np.isnan(alternate) | np.isnan(depth))
    return Reads(
        np.where(known, alternate, 0).astype(np.int32),  # NaN is no integer
        np.where(known, depth, 0).astype(np.int32),
    )


def filtered(
    values: NDArray[np.uint8],
    options: ReadOptions,
    depth: Array | None = None,
    quality: Array | None = None,
    share: Array | None = None,
) -> NDArray[np.uint8]:
    """Return genotypes; those that fail the filters are missing.

    Mutations with less than ``min_vaf`` per cent of alternate reads become 0. Calls with too few reads, too
    low a quality, or alternate reads that do not fit the genotype become missing, as do calls that lack a
    number which an option needs.

    Args:
        values: genotypes, uint8; 0, 1, 2 or 3.
        options: the options.
        depth: number of reads; NaN where it is not known. None if no option needs it.
        quality: the same for the quality (GQ).
        share: the same for the percentage of alternate reads.
    """
    bad = np.zeros(values.shape, np.bool_)
    if depth is not None and options.min_depth:
        bad |= ~(depth >= options.min_depth)
    if quality is not None and options.min_gq:
        bad |= ~(quality >= options.min_gq)
    if share is None:
        return np.where(bad, _MISSING, values)
    mutated = (values == _MUTATION) | (values == _HOMOZYGOUS)
    if options.min_vaf is not None:
        bad |= mutated & np.isnan(share)
        values = np.where(mutated & (share < options.min_vaf), _ABSENT, values)
    if options.vaf_ref is not None:
        bad |= (values == _ABSENT) & ~(share <= options.vaf_ref)
    if options.vaf_het is not None:
        bad |= (values == _MUTATION) & ~(share >= options.vaf_het)
    if options.vaf_hom is not None:
        bad |= (values == _HOMOZYGOUS) & ~(share >= options.vaf_hom)
    return np.where(bad, _MISSING, values)


def percent(part: Array, whole: Array) -> NDArray[np.float64]:
    """Return a part of a whole in per cent; NaN where the whole is 0 or not known."""
    percent = np.full(np.shape(part), np.nan)
    np.divide(100.0 * part, whole, out=percent, where=np.asarray(whole) > 0)
    return percent


@dataclass(frozen=True)
class Numbers:
    """Numbers of the calls of one record of a VCF: float64, NaN where they are not known.

    Attributes:
        depth: DP, shape (cells,); None if the record has none.
        quality: GQ, the same.
        reads: AD or what stands for it, shape (cells, alleles with the reference), or (cells, 1) for
            alternate reads alone; None if the record has none.
        fractions: AF or VAF, shape (cells, alternate alleles); None if the record has none.
        likelihoods: of genotypes; None if they are not needed, or the record has none.
    """

    depth: NDArray[np.float64] | None = None
    quality: NDArray[np.float64] | None = None
    reads: NDArray[np.float64] | None = None
    fractions: NDArray[np.float64] | None = None
    likelihoods: GenotypeLikelihoods | None = None

    def evidence(self, allele: int, options: ReadOptions) -> tuple[NDArray[np.float64], ...]:
        """Return what is known of an alternate allele, from 1, in each cell: nothing, odds, or reads.

        Reads are the alternate ones and all, both 0 where they are not known.
        """
        if options.evidence == "likelihoods" and self.likelihoods is not None:
            return (self.likelihoods.log_odds(allele),)
        if options.evidence != "reads" or self.reads is None:
            return ()
        if self.reads.shape[1] == 1 and self.depth is not None:
            alternate, total = self.reads[:, 0], self.depth
        else:
            alternate = (
                self.reads[:, allele] if allele < self.reads.shape[1] else np.full(len(self.reads), np.nan)
            )
            total = self._total(self.reads)
        known = ~(np.isnan(alternate) | np.isnan(total))
        return np.where(known, alternate, 0.0), np.where(known, total, 0.0)

    def calls(self, allele: int, options: ReadOptions) -> NDArray[np.uint8]:
        """Return the calls of an alternate allele, from 1, of a record without genotypes, by its evidence."""
        if self.likelihoods is not None:
            return self.likelihoods.calls(allele)
        alternate, total = self.evidence(allele, options)
        row = called(alternate[np.newaxis], total[np.newaxis], options, "").values
        return row.reshape(-1)

    def filtered(self, values: NDArray[np.uint8], allele: int, options: ReadOptions) -> NDArray[np.uint8]:
        """Return the genotypes of an alternate allele, from 1, without those that do not pass the options."""
        share = self._share(allele) if wants_share(options) else None
        return filtered(values, options, self._depth(), self.quality, share)

    def lacks(self, options: ReadOptions) -> tuple[str, Sequence[str]] | None:
        """Return the field that the options need and the record lacks, and these options; None if none."""
        if options.evidence == "likelihoods" and self.likelihoods is None:
            return f"{', '.join(FIELDS[:-1])} or {FIELDS[-1]}", ("evidence",)
        if options.evidence == "reads" and not (self._has_shares() or _all_missing(self.reads)):
            return "AD (with DP, if it is of alternate reads alone), RO and AO, or AU to TU", ("evidence",)
        if options.min_depth and self._depth() is None:
            return "DP", ("min_depth",)
        if options.min_gq and self.quality is None:
            return "GQ", ("min_gq",)
        if wants_share(options) and self.fractions is None and not self._has_shares():
            return "AD, AF or VAF", [name for name in SHARES if getattr(options, name) is not None]
        return None

    def _has_shares(self) -> bool:
        return self.reads is not None and (self.reads.shape[1] > 1 or self.depth is not None)

    def _depth(self) -> NDArray[np.float64] | None:
        """Return DP, or else the sum of AD, of each cell."""
        if self.reads is None or self.reads.shape[1] < 2:
            return self.depth
        total = _sum(self.reads)
        return total if self.depth is None else np.where(np.isnan(self.depth), total, self.depth)

    def _total(self, reads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of AD, of each cell; DP, if it is known, where numbers of AD are not."""
        total = _sum(reads)
        if self.depth is None:
            return total
        return np.where(np.isnan(reads).any(axis=1), np.fmax(total, self.depth), total)

    def _share(self, allele: int) -> NDArray[np.float64]:
        """Return the percentage of reads of an alternate allele, from 1."""
        if not self._has_shares() or self.reads is None:
            fractions = self.fractions
            if fractions is None or allele > fractions.shape[1]:
                return np.full(0 if fractions is None else len(fractions), np.nan)
            return 100.0 * fractions[:, allele - 1]
        if self.reads.shape[1] == 1 and self.depth is not None:
            return percent(self.reads[:, 0], self.depth)
        if allele >= self.reads.shape[1]:
            return np.full(len(self.reads), np.nan)
        return percent(self.reads[:, allele], self._total(self.reads))


def _sum(reads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of reads of each cell; NaN for a cell whose reads of the reference are not known."""
    return np.where(np.isnan(reads[:, 0]), np.nan, np.nansum(reads, axis=1))


def _all_missing(reads: NDArray[np.float64] | None) -> bool:
    return reads is not None and bool(np.isnan(reads).all())


def wants_share(options: ReadOptions) -> bool:
    """Return whether an option needs percentages of alternate reads."""
    return any(getattr(options, name) is not None for name in SHARES)
