"""Alleles of one sample: kinds of variants, alternatives with their tests, and the decisions about them:
which are called, with which quality and filters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from syclade.host.calls import lofreq_compat as as_lofreq
from syclade.host.calls.filters import LimitFilter, Measured, bias_filter, biased, failed, limit_filters
from syclade.host.calls.p_values import fisher_log_p, is_one_sided
from syclade.host.ground.options.calls import CallOptions

__all__ = [
    "INDEL",
    "KINDS",
    "SNV",
    "Allele",
    "Call",
    "Kind",
    "Limits",
    "Tested",
    "Thresholds",
    "kinds_of",
    "limits_of",
    "may_be_called",
    "number_of_tests",
    "pooled_bias",
    "sample_calls",
    "thresholds_of",
]

_PHRED = -10.0 / math.log(10.0)
_LEAST_LOG = -11355.137
"""ln of the smallest positive number of LoFreq's type, long double: no quality exceeds 49314."""
_UNDERFLOW = -708.3964185322641
"""ln of the smallest normal float64: LoFreq's sum of a tail underflows where terms differ by more."""
_EPSILON_LOG = math.log(2.0**-52)
_NO_BIAS_VALUE = 2147483647
"""LoFreq's strand bias where there is no value."""


@dataclass(frozen=True)
class Kind:
    """A kind of variants.

    Attributes:
        name: its name in the VCF's header.
        quality_filter: name of the filter by quality, before the limit.
        tests: tests for each thing that is tested: a column has three alternative bases, an indel is one.
        uncounted: tests that LoFreq counts before the first one.
        fixed: whether LoFreq corrects for a given number of tests.
        strand_filter: whether strand bias is filtered.
        flag: name of the flag in INFO; empty for none.
    """

    name: str
    quality_filter: str
    tests: int
    uncounted: int
    fixed: bool
    strand_filter: bool
    flag: str

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        """Let a kind from another process be the same object as here."""
        return _kind_named, (self.name,)


SNV = Kind("SNV", "min_snvqual", 3, 0, True, True, "")
INDEL = Kind("Indel", "min_indelqual", 1, 1, False, False, "INDEL")
KINDS = (SNV, INDEL)


def _kind_named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


Tested = Mapping[Kind, int]
"""Number of columns and of indels that were tested, by kind."""


def kinds_of(options: CallOptions) -> tuple[Kind, ...]:
    """Return the kinds that are called."""
    wanted = {SNV: not options.only_indels, INDEL: options.call_indels}
    return tuple(kind for kind in KINDS if wanted[kind])


def number_of_tests(kind: Kind, tested: int, options: CallOptions) -> int:
    """Return the number of tests that p-values of a kind are corrected for.

    Args:
        kind: the kind.
        tested: number of things of this kind that were tested.
        options: a given number of tests.
    """
    if options.bonf is not None:
        return 1 if options.compat and not kind.fixed else options.bonf
    return max(1, kind.tests * tested + (kind.uncounted if options.compat else 0))


@dataclass(frozen=True)
class Allele:
    """An alternative of a column of one sample.

    Attributes:
        kind: its kind.
        position: position of the column, from 0: for an indel, that of the base before it.
        reference, alternative: letters, as in a VCF.
        log_p: ln of the test's p-value; 0 without a test.
        highest: that of the column's most frequent alternative base, the smallest one.
        order: columns, or indels, tested in this window up to and including this one.
        depth: reads of the column, deletions included; for an indel, without reads that end there.
        dp4: reads with the reference, forward and reverse, and with the alternative; for bases, those of
            quality 3 and more.
        counted: reads of which the alternative is a part.
        count: reads with this alternative in the test.
        unfiltered: those before filters of alternative bases and joint qualities, which LoFreq's AF counts.
        trials: reads in the test.
        homopolymer: length of the homopolymer at the next position; 0 for a base.
    """

    kind: Kind
    position: int
    reference: str
    alternative: str
    log_p: float
    highest: float
    order: int
    depth: int
    dp4: tuple[int, int, int, int]
    counted: int
    count: int
    unfiltered: int
    trials: int
    homopolymer: int = 0


@dataclass(frozen=True)
class Thresholds:
    """Limits of a sample for one kind of variants.

    Attributes:
        tests: number of tests that p-values are corrected for.
        quality: least integer quality of a call.
    """

    tests: int
    quality: int


Limits = Mapping[Kind, Thresholds]
"""Limits of a sample for each kind of variants that is called."""


@dataclass(frozen=True)
class Call:
    """An allele with the decisions about it.

    Attributes:
        allele: the allele.
        quality: integer Phred quality of its test.
        strand_bias: Phred-scaled p-value of Fisher's test.
        filters: names of the filters that it does not pass.
    """

    allele: Allele
    quality: int
    strand_bias: int
    filters: tuple[str, ...]


def thresholds_of(kind: Kind, tested: int, options: CallOptions) -> Thresholds:
    """Return the limits for a kind, given the number of columns or indels that were tested."""
    tests = number_of_tests(kind, tested, options)
    if options.compat:  # LoFreq divides in single precision
        corrected = np.longdouble(np.float32(options.sig) / np.float32(tests))
        return Thresholds(tests, max(0, int(-10 * np.log10(corrected))))
    return Thresholds(tests, options.least_quality(tests, kind is INDEL))


def limits_of(tested: Tested, options: CallOptions) -> Limits:
    """Return the limits for all kinds that are called."""
    return {kind: thresholds_of(kind, tested[kind], options) for kind in kinds_of(options)}


def may_be_called(allele: Allele, tested_before: int, options: CallOptions) -> bool:
    """Return whether an allele can be called, whatever follows.

    The number of tests only grows, so an allele that is not significant among those so far never is. LoFreq
    decides with the tests so far; otherwise, qualities are cut to integers, so the limit is one Phred unit
    more generous.

    Args:
        allele: the allele.
        tested_before: columns, or indels, tested in the windows before its own.
        options: level and number of tests.
    """
    if allele.count == 0:
        return False
    tests = number_of_tests(allele.kind, tested_before + allele.order, options)
    margin = 0.0 if options.compat else 0.1 * math.log(10.0)
    log_p = _lofreq_log_p(allele) if options.compat else allele.log_p
    return log_p + math.log(tests) < math.log(options.level_of(allele.kind is INDEL)) + margin


def sample_calls(alleles: Sequence[Allele], limits: Limits, options: CallOptions) -> list[Call]:
    """Return the decision about each allele of a sample.

    Args:
        alleles: the alleles, in the order of the genome.
        limits: the limits of each kind.
        options: which filters to apply.
    """
    by_limits = limit_filters(options)
    calls = [_judged(allele, limits[allele.kind], by_limits, options) for allele in alleles]
    considered = [
        at
        for at, call in enumerate(calls)
        if (call.allele.kind.strand_filter or options.sb_incl_indels)
        and (options.compat or call.quality >= limits[call.allele.kind].quality)
    ]
    name, one_sided = bias_filter(options), as_lofreq.is_one_sided if options.compat else is_one_sided
    biases = [calls[at].strand_bias for at in considered]
    strands = [calls[at].allele.dp4[2:] for at in considered]
    for at, found in zip(considered, biased(biases, strands, options, one_sided), strict=True):
        if found:
            call = calls[at]
            calls[at] = Call(call.allele, call.quality, call.strand_bias, (*call.filters, name))
    return calls


def _judged(
    allele: Allele, thresholds: Thresholds, by_limits: Sequence[LimitFilter], options: CallOptions
) -> Call:
    quality = _quality(_lofreq_log_p(allele) if options.compat else allele.log_p)
    filters: tuple[str, ...] = ()
    if quality < thresholds.quality:
        filters += (f"{allele.kind.quality_filter}_{thresholds.quality}",)
    alternative = sum(allele.dp4[2:])
    frequency = alternative / allele.counted if allele.counted else 0.0
    filters += failed(Measured(allele.depth, frequency, alternative, allele.homopolymer), by_limits)
    bias = _lofreq_bias(*allele.dp4) if options.compat else pooled_bias(*allele.dp4)
    return Call(allele, quality, bias, filters)


def _quality(log_p: float) -> int:
    """Return an integer Phred quality, cut; 0 for what LoFreq loses."""
    return 0 if log_p >= 0 else as_lofreq.phred_of_log(log_p)


def pooled_bias(*dp4: int) -> int:
    """Return the Phred-scaled p-value of strand bias of four counts, cut to an integer."""
    return int(_PHRED * fisher_log_p(*dp4))


def _lofreq_bias(*dp4: int) -> int:
    """Return LoFreq's value: none where its p-value is 0, and where only one strand and no reference base is
    left."""
    if dp4[0] + dp4[1] == 0 and 0 in dp4[2:]:
        return _NO_BIAS_VALUE
    p = as_lofreq.fisher_p(*dp4)
    return int(-10 * np.log10(np.longdouble(p))) if p > 0 else _NO_BIAS_VALUE


def _lofreq_log_p(allele: Allele) -> float:
    """Return ln of the p-value that LoFreq computes.

    It takes the tails of less frequent alternatives from the table of the most frequent one. Where ln p
    differs by more than the exponent of float64 can hold, a flag of underflow makes LoFreq replace the
    p-value: a small one by the smallest positive number, a larger one by the largest, so that the allele is
    lost.
    """
    log_p = allele.log_p
    if allele.highest - log_p < _UNDERFLOW:
        return _LEAST_LOG if log_p < _EPSILON_LOG else math.inf
    return max(log_p, _LEAST_LOG)
