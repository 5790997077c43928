"""Likelihoods of genotypes as evidence: log odds of a mutation from probabilities or phred numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails import arithmetic
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.formats.grid import UNKNOWN, Grid, ReadOptions, named_grid, unused_evidence
from syclade.host.data.input.formats.tabular import Table
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = [
    "FIELDS",
    "CallerLikelihoods",
    "GenotypeLikelihoods",
    "GivenNumbers",
    "calls_of",
    "check_coding",
    "genotype_likelihoods",
    "likelihood_numbers",
    "likely_grid",
    "odds_of",
    "odds_of_numbers",
]

FIELDS: Final = ("PL", "GL", "GP", "FPL")
"""Fields of a VCF with likelihoods, the first one that a record has is used. FPL is SCcaller's."""

NOISE: Final = "sequencing noise, amplification artifact"
"""Description of SCcaller's four likelihoods, which are FPL in its version 2 and PL in others."""

_LOG = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+(?:[eE][+-]?[0-9]{1,3})?|inf)")

_NATS: Final = math.log(10.0) / 10.0
"""Natural logarithm of a factor of one phred."""

_CODINGS: Final = ("probability", "log")
"""Codings of likelihoods in tables and layers."""

_CUTS: Final = (99.0, 255.0)
"""Phred numbers at which callers cut likelihoods off."""


def _log(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms, -inf of 0, with the same bits on every processor, for weights and hashes."""
    usual = (numbers > 0.0) & np.isfinite(numbers)
    logs = arithmetic.log(np.where(usual, numbers, 1.0))
    return np.where(usual, logs, np.where(numbers == 0.0, -np.inf, np.where(numbers < 0.0, np.nan, numbers)))


def _exp(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x of numbers up to 0, and 0 below -40, with the same bits on every processor."""
    return np.where(numbers >= -40.0, arithmetic.exp(np.maximum(numbers, -40.0)), 0.0)


def odds_of(mutated: NDArray[np.float64], absent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of two likelihoods or probabilities; 0 where both are 0, or one is NaN."""
    with np.errstate(invalid="ignore"):
        odds = _log(mutated) - _log(absent)
    return np.where(np.isnan(odds), 0.0, odds)


def calls_of(log_odds: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the likelier state as calls: 1 above 0, 0 below, and missing where nothing is known."""
    return np.where(log_odds == 0.0, 3, log_odds > 0.0).astype(np.uint8)


def likely_grid(
    log_odds: NDArray[np.float64], mutations: Sequence[str], cells: Sequence[str], options: ReadOptions
) -> Grid:
    """Return the grid of a format whose entries are likelihoods, with calls made from them.

    Args:
        log_odds: shape (n_mutations, n_cells), as in `Likelihoods`.
        mutations, cells: names; empty if the file has none.
        options: the options.
    """
    evidence = Likelihoods(log_odds) if options.evidence == "likelihoods" else None
    return named_grid(
        calls_of(log_odds), mutations, cells, evidence=evidence, notes=unused_evidence(options, "likelihoods")
    )


def check_coding(options: ReadOptions, *, second: bool, path: str) -> str | None:
    """Return the coding of likelihoods in a table or layer; None if they are not requested.

    Args:
        options: the options.
        second: whether likelihoods without the mutation are given, too.
        path: the file, for messages.

    Raises:
        OptionError: options of likelihoods are given without them.
        MatrixError: the coding is not given.
    """
    coding = options.coding if options.coding in _CODINGS else None
    likely = flag_of("evidence", "likelihoods")
    if options.evidence != "likelihoods":
        if coding is not None or second:
            what = flag_of("coding", coding) if coding else "a table of likelihoods without the mutation"
            raise OptionError(f"{what} is for {likely}", hint=f"give {likely}, or leave it out")
        return None
    if coding is None:
        numbers = (
            "likelihoods, or their logarithms" if second else "probabilities of the mutation, or log odds"
        )
        raise MatrixError(
            f"the meaning of the numbers is not given: {numbers}",
            path=path,
            hint=f"give {flag_of('coding', 'probability')} or {flag_of('coding', 'log')}",
        )
    return coding


def odds_of_numbers(
    mutated: NDArray[np.float64],
    absent: NDArray[np.float64] | None,
    coding: str,
    path: str,
    lines: Sequence[int] = (),
) -> NDArray[np.float64]:
    """Return log odds from the numbers of tables or layers; NaN are not known.

    Args:
        mutated: probabilities of the mutation, log odds, likelihoods with the mutation, or their logarithms.
        absent: likelihoods without it, or their logarithms, of the same shape; None if there are none.
        coding: "probability" or "log".
        path: the file, for messages.
        lines: line numbers of the rows of `mutated`, if it is from a file with lines.

    Raises:
        MatrixError: a number is no likelihood or probability.
    """
    if coding == "log":
        with np.errstate(invalid="ignore"):
            odds = mutated if absent is None else mutated - absent
        return np.where(np.isnan(odds), 0.0, odds)
    for numbers in (mutated, absent):
        wrong = np.zeros((1, 1)) if numbers is None else (numbers < 0) | ((absent is None) & (numbers > 1))
        if numbers is not None and wrong.any():
            row, column = (int(at) for at in np.argwhere(wrong)[0])
            what = "a probability" if absent is None else "a likelihood"
            raise MatrixError(
                f"{numbers[row, column]:g} (row {row + 1}, column {column + 1}) is not {what}",
                path=path,
                line=lines[row] if lines and numbers is mutated else None,
            )
    return odds_of(mutated, 1.0 - mutated if absent is None else absent)


def likelihood_numbers(table: Table, path: str) -> NDArray[np.float64]:
    """Return the numbers of a table of likelihoods or of logarithms; NaN for missing ones.

    Raises:
        MatrixError: an entry is not a number, with the line.
    """
    rows = []
    for entries, line in zip(table.entries, table.lines, strict=True):
        texts = [text.strip() for text in entries]
        wrong = next((one for one in texts if one.upper() not in UNKNOWN and not _LOG.fullmatch(one)), None)
        if wrong is not None:
            raise MatrixError(f"{excerpt(wrong)} is not a number", path=path, line=line)
        rows.append([np.nan if one.upper() in UNKNOWN else float(one) for one in texts])
    return np.array(rows)


class GenotypeLikelihoods(NamedTuple):
    """Likelihoods of the genotypes of one record.

    Attributes:
        logs: natural logarithms, float64, shape (cells, genotypes); NaN where they are not known, in the last
            ones of a haploid cell, and of genotypes with unspecified alleles.
        numbers: the numbers of the file, of the same shape.
        alleles: the two alleles of each genotype, shape (genotypes, 2); of SCcaller's four, the first two
            are the wild type, and then come one copy and two.
        haploid: bool, shape (cells,): whether each has the likelihoods of a haploid genotype.
    """

    logs: NDArray[np.float64]
    numbers: NDArray[np.float64]
    alleles: NDArray[np.int64]
    haploid: NDArray[np.bool_]

    def log_odds(self, allele: int) -> NDArray[np.float64]:
        """Return the log odds of an alternate allele, from 1; shape (cells,), 0 where nothing is known.

        The genotypes with the allele are equally likely before the data, and so are the others: a
        likelihood is the mean of those of its genotypes.
        """
        has = (self.alleles == allele).any(axis=1)
        odds = _log_mean(self.logs[:, has]) - _log_mean(self.logs[:, ~has])
        if self.haploid.any():
            alone = np.arange(self.logs.shape[1]) == allele
            one = _log_mean(self.logs[:, alone]) - _log_mean(self.logs[:, ~alone])
            odds = np.where(self.haploid, one, odds)
        return np.where(np.isnan(odds), 0.0, odds)

    def calls(self, allele: int) -> NDArray[np.uint8]:
        """Return calls of an alternate allele: the likelier side, and 2 if its likeliest genotype has two."""
        odds = self.log_odds(allele)
        copies = (self.alleles == allele).sum(axis=1)
        best = np.argmax(np.nan_to_num(self.logs, nan=-np.inf), axis=1)
        doubled = ~self.haploid & (copies[best] == 2)
        return np.where((odds > 0) & doubled, 2, calls_of(odds)).astype(np.uint8)


def _log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the mean of likelihoods in each row; NaN counts as none."""
    known = ~np.isnan(logs)
    top = np.max(np.where(known, logs, -np.inf), axis=1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    sums = _log(np.where(known, _exp(np.where(known, logs - shift[:, np.newaxis], 0.0)), 0.0).sum(axis=1))
    count = _log(known.sum(axis=1).astype(np.float64))
    return np.where(known.any(axis=1), sums + shift - np.where(np.isfinite(count), count, 0.0), np.nan)


class GivenNumbers(NamedTuple):
    """Numbers of a field of a record.

    Attributes:
        table: float64, shape (cells, most numbers of a cell); NaN for those not known.
        lengths: int64, shape (cells,): how many each cell has, known or not.
    """

    table: NDArray[np.float64]
    lengths: NDArray[np.int64]


def genotype_likelihoods(
    name: str, given: GivenNumbers, unspecified: Sequence[bool], path: str, line: int | None, record: str
) -> GenotypeLikelihoods:
    """Return the likelihoods of a field of a record.

    Args:
        name: the field, one of FIELDS.
        given: its numbers.
        unspecified: for each alternate allele, whether it is no allele, such as <NON_REF>.
        path, line: the file, and the line if it has one, for messages.
        record: the record, for messages.

    Raises:
        MatrixError: there are not as many numbers as genotypes, or they are no such likelihoods.
    """
    numbers, alternates = given.table, len(unspecified)
    pairs = [(one, other) for other in range(alternates + 1) for one in range(other + 1)]
    if name == "FPL":
        pairs = [(0, 0), (0, 0), (0, 1), (1, 1)]
    expected, haploid_size = len(pairs), 0 if name == "FPL" else alternates + 1
    if numbers.shape[1] not in (expected, haploid_size) and not np.isnan(numbers).all():
        alleles = "an alternate allele" if alternates == 1 else f"{alternates} alternate alleles"
        raise MatrixError(
            f"{record} has {numbers.shape[1]} numbers of {name}, not {expected}, the genotypes of {alleles}",
            path=path,
            line=line,
            hint=f"its {name} are no likelihoods of genotypes, as in SCIPhI's files, or are of other ploidy: "
            f"{flag_of('evidence', 'reads')} uses reads, if there are any",
        )
    width = max(expected, haploid_size)
    wide = np.full((len(numbers), width), np.nan)
    wide[:, : min(width, numbers.shape[1])] = numbers[:, :width]
    haploid = (given.lengths == haploid_size) & ~np.isnan(wide[:, : max(haploid_size, 1)]).any(axis=1)
    haploid &= haploid_size < expected
    wide[~haploid & (given.lengths != expected)] = np.nan  # of which genotypes they are is not known
    whole = haploid | ~np.isnan(wide[:, :expected]).any(axis=1)
    logs, genotypes = _logs(name, wide, whole, path, line, record), np.array(pairs, dtype=np.int64)
    for none in (np.flatnonzero(unspecified) + 1).tolist():
        logs[np.ix_(~haploid, (genotypes == none).any(axis=1))] = np.nan
        logs[haploid, none] = np.nan
    return GenotypeLikelihoods(logs, wide, genotypes, haploid)


def _logs(
    name: str,
    numbers: NDArray[np.float64],
    whole: NDArray[np.bool_],
    path: str,
    line: int | None,
    record: str,
) -> NDArray[np.float64]:
    """Return natural logarithms of the numbers of a field, in its scale; `whole` are cells with all of them.

    Raises:
        MatrixError: GP are neither probabilities that add up to 1 nor phred numbers.
    """
    if name == "GL":
        return np.asarray(numbers * math.log(10.0))
    if name == "GP" and np.isfinite(numbers).any() and np.nanmax(numbers) <= 1.0:
        sums = np.nansum(numbers[whole], axis=1)
        if (np.abs(sums - 1.0) > 0.05).any():  # they are rounded
            raise MatrixError(
                f"{record} has GP that add up to {sums[np.argmax(np.abs(sums - 1.0))]:.3g}, not 1",
                path=path,
                line=line,
                hint="give probabilities of genotypes, or phred numbers as in VCF 4.2",
            )
        return _log(numbers)
    return np.asarray(-_NATS * numbers)


@dataclass
class CallerLikelihoods:
    """Likelihoods of a whole file, counted to find out whether a caller wrote them as they are defined.

    Attributes:
        fields: the fields that were used.
    """

    fields: set[str] = field(default_factory=set)
    _known: int = 0
    _flat: int = 0
    _shifted: int = 0
    _top: float = -np.inf
    _at_top: int = 0
    _compared: int = 0
    _contradict: int = 0
    _backwards: int = 0
    _cut: int = 0

    def add(self, name: str, found: GenotypeLikelihoods, genotypes: NDArray[np.int64]) -> None:
        """Count the entries of a record.

        Args:
            name: the field.
            found: its likelihoods.
            genotypes: the two called alleles of each cell, shape (cells, 2), in any order; -1 where they
                are not known.
        """
        self.fields.add(name)
        self._cut += int((found.haploid & (genotypes >= 0).all(axis=1)).sum())
        known = ~np.isnan(found.logs).all(axis=1)
        logs, alone = found.logs[known], found.haploid[known]
        if not logs.size:
            return
        best, worst = np.nanmax(logs, axis=1), np.nanmin(logs, axis=1)
        flat = best == worst
        self._known += len(logs)
        self._flat += int(flat.sum())
        if name != "GP" and name != "GL":
            numbers = found.numbers[known]
            top = float(np.nanmax(numbers))
            self._shifted += int((np.nanmin(numbers, axis=1) != 0.0).sum())
            self._at_top = (0 if top > self._top else self._at_top) + int(
                (np.nanmax(numbers, axis=1) == max(top, self._top)).sum()
            )
            self._top = max(top, self._top)
        if name == "FPL":
            return
        low, high = np.sort(genotypes[known], axis=1).T
        at = low + high * (high + 1) // 2
        usable = (low >= 0) & ~flat & ~alone & (at < logs.shape[1])
        called = logs[usable, at[usable]]
        self._compared += int(usable.sum())
        self._contradict += int((called < best[usable]).sum())
        self._backwards += int((called == worst[usable]).sum())

    def notes(self, path: str) -> tuple[str, ...]:
        """Return lines for the log.

        Raises:
            MatrixError: they say nothing, contradict most genotypes, or lack numbers.
        """
        if not self.fields:
            return ()
        names = " and ".join(sorted(self.fields))
        instead = f"{flag_of('evidence', 'reads')}, if there are reads, or {flag_of('evidence', 'calls')}"
        if self._cut:
            raise MatrixError(
                f"{names} has one number for each allele in {self._cut} entries whose GT has two alleles: it "
                "needs one for each genotype there, such as three for 0/1",
                path=path,
                hint=f"write them in whole, or use {instead}",
            )
        if self._flat == self._known:
            raise MatrixError(
                f"{names} says nothing: its numbers are equal, or missing, in all entries",
                path=path,
                hint=f"use {instead}",
            )
        if 2 * self._contradict > self._compared:
            way = (
                "; the called genotype is mostly the least likely, as if the sign or the order were reversed"
            )
            raise MatrixError(
                f"{names} contradicts GT in {self._contradict} of {self._compared} entries"
                + (way if 2 * self._backwards > self._compared else ""),
                path=path,
                hint=f"have the caller write {names} as the VCF specification defines it, or use {instead}",
            )
        notes = [f"likelihoods of {names}; genotypes with an allele, and those without, are equally likely"]
        if "GP" in self.fields:
            notes.append("GP are posterior probabilities, which contain the caller's prior")
        if self._contradict:
            notes.append(f"{names} contradicts GT in {self._contradict} of {self._compared} entries")
        if self._shifted:
            notes.append(
                f"in {self._shifted} of {self._known} entries, no genotype has {names} 0, as the likeliest "
                "should; only differences count"
            )
        if self._top in _CUTS and self._at_top > 1:
            notes.append(
                f"{names} is cut off at {self._top:.0f} in {self._at_top} of {self._known} entries, "
                "which are at least as sure"
            )
        return tuple(notes)
