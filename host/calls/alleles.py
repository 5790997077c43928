"""Alleles of one sample: kinds of variants, alternatives with their tests, and the decisions about them.

These are which alleles are called, with which quality, and which filters they do not pass: by depth,
frequency, alternate reads, homopolymer and strand bias. Names and meaning of filters are those of
`lofreq filter`, which lacks the alternate reads and the homopolymer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from syclade.host.calls import lofreq_compat as as_lofreq
from syclade.host.calls.p_values import fisher_log_p, is_one_sided, rejected
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.values import counted

__all__ = [
    "INDEL",
    "KINDS",
    "SNV",
    "Allele",
    "Call",
    "Kind",
    "Limits",
    "Measured",
    "Tested",
    "Thresholds",
    "bias_filter",
    "biased",
    "filter_lines",
    "kinds_of",
    "limit_filters",
    "limits_of",
    "may_be_called",
    "number_of_tests",
    "pooled_bias",
    "sample_calls",
    "thresholds_of",
]

_PHRED = -10.0 / math.log(10.0)


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
    log_p = as_lofreq.log_p_of(allele.log_p, allele.highest) if options.compat else allele.log_p
    return log_p + math.log(tests) < math.log(options.level_of(allele.kind is INDEL)) + margin


Strands = tuple[int, int]
"""Reads with the alternative, forward and reverse."""


class Measured(NamedTuple):
    """Values of a record that filters compare with limits.

    Attributes:
        depth: reads.
        frequency: part of the reads with the alternative.
        alternative: reads with the alternative.
        homopolymer: length of the homopolymer after an indel; 0 for a base.
    """

    depth: int
    frequency: float
    alternative: int
    homopolymer: int


class LimitFilter(NamedTuple):
    """A filter by a limit: its name in a VCF, its description, the value it compares, and when it rejects."""

    name: str
    words: str
    value: str
    rejects: Callable[[Measured], bool]


def limit_filters(options: CallOptions) -> list[LimitFilter]:
    """Return the filters by limits that the options ask for."""
    depth, most, least, high = options.least_depth, options.max_dp, options.min_af, options.max_af
    reads, run = options.min_alt, options.max_hrun
    few = f"Fewer than {counted(reads, 'read', 'reads')} with the alternative"
    long = f"Indel before a homopolymer of more than {run} bases"
    rows: list[tuple[bool, str, str, str, Callable[[Measured], bool]]] = [
        (depth > 0, f"min_dp_{depth}", f"Minimum Coverage {depth}", "DP", lambda m: m.depth < depth),
        (most > 0, f"max_dp_{most}", f"Maximum Coverage {most}", "DP", lambda m: m.depth > most),
        (least > 0, f"min_af_{least:f}", f"Minimum AF {least:f}", "AF", lambda m: m.frequency < least),
        (high < 1, f"max_af_{high:f}", f"Maximum AF {high:f}", "AF", lambda m: m.frequency > high),
        (reads > 0, f"min_alt_{reads}", few, "DP4", lambda m: m.alternative < reads),
        (run > 0, f"max_hrun_{run}", long, "HRUN", lambda m: m.homopolymer > run),
    ]
    return [LimitFilter(*row[1:]) for row in rows if row[0]]


def bias_filter(options: CallOptions) -> str:
    """Return the name of the filter by strand bias; empty if there is none."""
    if options.max_sb is not None:
        return f"max_sb_{options.max_sb}"
    return "" if options.no_default_filter else "sb_fdr"


def biased(
    biases: Sequence[float],
    strands: Sequence[Strands],
    options: CallOptions,
    one_sided: Callable[[int, int], bool] = is_one_sided,
) -> list[bool]:
    """Return which records do not pass the filter by strand bias.

    Args:
        biases: Phred-scaled p-values of strand bias.
        strands: reads with the alternative, of each record.
        options: which filter.
        one_sided: whether most of them have one strand.
    """
    if not bias_filter(options):
        return [False] * len(biases)
    if options.max_sb is None:
        found = rejected([10.0 ** (-bias / 10.0) for bias in biases], options.sb_alpha)
    else:
        found = [bias > options.max_sb for bias in biases]
    return [
        is_biased and (options.sb_no_compound or one_sided(*pair))
        for is_biased, pair in zip(found, strands, strict=True)
    ]


def filter_lines(options: CallOptions) -> Iterator[str]:
    """Yield the lines of a VCF's header for these filters."""
    lines = {limit.name: limit.words for limit in limit_filters(options)}
    name = bias_filter(options)
    if options.max_sb is not None:
        lines[name] = f"Maximum Strand Bias {options.max_sb}"
    elif name:
        lines[name] = f"Strand-Bias Multiple Testing Correction: fdr corr. pvalue > {options.sb_alpha:f}"
    for name, words in lines.items():
        yield f'##FILTER=<ID={name},Description="{words}">'


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
    quality = _quality(as_lofreq.log_p_of(allele.log_p, allele.highest) if options.compat else allele.log_p)
    filters: tuple[str, ...] = ()
    if quality < thresholds.quality:
        filters += (f"{allele.kind.quality_filter}_{thresholds.quality}",)
    alternative = sum(allele.dp4[2:])
    frequency = alternative / allele.counted if allele.counted else 0.0
    measured = Measured(allele.depth, frequency, alternative, allele.homopolymer)
    filters += tuple(limit.name for limit in by_limits if limit.rejects(measured))
    bias = as_lofreq.strand_bias(*allele.dp4) if options.compat else pooled_bias(*allele.dp4)
    return Call(allele, quality, bias, filters)


def _quality(log_p: float) -> int:
    """Return an integer Phred quality, cut; 0 for what LoFreq loses."""
    return 0 if log_p >= 0 else as_lofreq.phred_of_log(log_p)


def pooled_bias(*dp4: int) -> int:
    """Return the Phred-scaled p-value of strand bias of four counts, cut to an integer."""
    return int(_PHRED * fisher_log_p(*dp4))
