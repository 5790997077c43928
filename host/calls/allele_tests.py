"""Tests of the alleles of a window: of its bases, then of its indels.

A read without an insertion would have one by error with probability PM + (1 − PM) PI, where PM is that of its
mapping and PI that of an insertion after its base; likewise for deletions. A read with the tested indel has
PM + (1 − PM) PA + (1 − PM)(1 − PA) PI, where PA is the error probability of the gap's alignment. Source:
LoFreq's behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alleles import INDEL, SNV, Allele
from syclade.host.calls.counts import ColumnsToTest
from syclade.host.calls.indel_counts import Indel, IndelCounts, Qualities
from syclade.host.calls.p_values import (
    ExactTails,
    homopolymer_length,
    joint_errors,
    may_be_significant,
    poisson_screen,
)
from syclade.host.calls.reference import BASES
from syclade.host.calls.tails import Columns, columns_of
from syclade.host.ground.options.calls import CallOptions
from syclade.kernels.pileup.arguments import NO_ALIGNMENT

__all__ = [
    "RARE", "IndelTests", "WindowTests", "allele_at", "indel_alleles", "run_indel_tests", "run_tests",
]  # fmt: skip

RARE = np.float32(0.05)
"""Where a base A or T is inserted in some reads and deleted in others, both in a smaller part, neither is
tested: so do errors in homopolymers look."""

_LETTERS = (*BASES, "N")

Groups = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Distinct error probabilities, ascending, and the number of reads with each."""


@dataclass(frozen=True)
class WindowTests:
    """Tests of a window.

    Attributes:
        tested: number of columns that were tested.
        log_p: ln of the p-value of alternatives that may be significant, by column and base.
        order: int64, (columns,): columns tested up to and including each.
    """

    tested: int
    log_p: dict[tuple[int, int], float]
    order: NDArray[np.int64]


def run_tests(
    columns: ColumnsToTest, sig: float, tails: ExactTails, forced: NDArray[np.bool_] | None = None
) -> WindowTests:
    """Test the columns of a window.

    Args:
        columns: the columns.
        sig: alternatives whose p-value certainly exceeds this need no exact one.
        tails: computes exact p-values.
        forced: columns whose alternatives need one in any case.

    Raises:
        DeviceError: the kernel of tails cannot be compiled.
    """
    chosen = may_be_significant(columns, sig)
    if forced is not None:
        chosen |= forced & columns.tested
    wanted = [
        (int(column), base)
        for column in np.flatnonzero(chosen)
        for base in range(4)
        if columns.alternatives[column, base] > 0
    ]
    order = np.cumsum(columns.tested).astype(np.int64)
    tested = int(columns.tested.sum())
    if not wanted:
        return WindowTests(tested, {}, order)
    groups = [columns.groups(column) for column, _ in wanted]
    made = Columns(
        np.concatenate([p for p, _ in groups]),
        np.concatenate([count for _, count in groups]),
        np.concatenate([[0], np.cumsum([len(p) for p, _ in groups])]).astype(np.int64),
        np.array([columns.alternatives[one] for one in wanted], dtype=np.int64),
    )
    log_p = tails.of(made)
    for at, (column, base) in enumerate(wanted):
        if columns.alternatives[column, base] == columns.trials[column]:
            log_p[at] = _all_wrong(*groups[at])
    return WindowTests(tested, dict(zip(wanted, log_p.tolist(), strict=True)), order)


def _all_wrong(probability: NDArray[np.float64], count: NDArray[np.int64]) -> float:
    """Return ln of the probability that all bases of a column are wrong.

    It is often a whole Phred number, so its logarithms are added in LoFreq's order, which decides how it is
    cut.
    """
    logs = [math.log(p) for p in probability.tolist()]
    return float(np.repeat(logs, count).cumsum()[-1])


def allele_at(columns: ColumnsToTest, tests: WindowTests, column: int, base: int) -> Allele:
    """Return the allele of a column and an alternative base."""
    counts = columns.counts
    tails = [tests.log_p.get((column, one), 0.0) for one in range(4)]
    reference, strands = int(columns.reference[column]), counts.strands[column]
    known = reference < len(BASES)
    forward, reverse = strands[reference].tolist() if known else (0, 0)
    return Allele(
        SNV,
        counts.begin + column,
        BASES[reference] if known else "N",
        BASES[base],
        tails[base],
        min(tails),
        int(tests.order[column]),
        int(counts.depth[column]),
        (forward, reverse, *strands[base].tolist()),
        int(strands[:4].sum()),
        int(columns.alternatives[column, base]),
        int(columns.unfiltered[column, base]),
        int(columns.trials[column]),
    )


@dataclass(frozen=True)
class IndelTests:
    """Tests of the indels of a window.

    Attributes:
        counts: the counts.
        order: tests up to and including each tested indel.
        groups: error probabilities of the reads of each tested indel.
        log_p: ln of the p-value of indels that may be significant.
        tails: computes those of others.
        ignored: number of indels of single bases that are not tested; see `RARE`.
    """

    counts: IndelCounts
    order: Mapping[Indel, int]
    groups: Mapping[Indel, Groups]
    log_p: Mapping[Indel, float]
    tails: ExactTails
    ignored: int


def run_indel_tests(
    counts: IndelCounts,
    reference: NDArray[np.uint8],
    options: CallOptions,
    level: float,
    tails: ExactTails,
) -> IndelTests:
    """Test the indels of a window.

    Args:
        counts: the counts of the window.
        reference: uint8, bases of the whole contig, by number.
        options: which reads count.
        level: indels whose p-value certainly exceeds it need no exact one.
        tails: computes exact p-values.

    Raises:
        DeviceError: the kernel of tails cannot be compiled.
    """
    groups: dict[Indel, Groups] = {}
    number = 0
    for column, found in counts.by_column.items():
        if reference[counts.begin + column] < len(BASES):
            ignored = (
                set() if options.keep_homopolymers else _errors_of_homopolymers(counts, found, reference)
            )
            number += len(ignored)
            groups |= _column_groups(counts, found, ignored, options)
    made = columns_of((*groups[one], int(counts.indels[one].count.sum())) for one in groups)
    possible = poisson_screen(made.starts, made.probabilities, made.counts, made.at_least, level)
    chosen = [one for one, may_be in zip(groups, possible, strict=True) if may_be]
    order = {one: number for number, one in enumerate(groups, 1)}
    return IndelTests(counts, order, groups, _log_p(counts, groups, chosen, tails), tails, number)


def _log_p(
    counts: IndelCounts, groups: Mapping[Indel, Groups], chosen: Sequence[Indel], tails: ExactTails
) -> dict[Indel, float]:
    """Return ln of the p-values of some indels."""
    if not chosen:
        return {}
    columns = columns_of((*groups[one], int(counts.indels[one].count.sum())) for one in chosen)
    return dict(zip(chosen, tails.of(columns).tolist(), strict=True))


def indel_alleles(
    samples: Sequence[IndelTests],
    reference: NDArray[np.uint8],
    level: float,
    forced: Sequence[Indel] = (),
) -> Iterator[tuple[Allele, ...]]:
    """Yield the indels that may be called in a sample, and forced ones, each with its values in all samples.

    They are in the order of columns; within one, insertions first, and each kind by its first read.

    Args:
        samples: the tests of the window, by sample.
        reference: uint8, bases of the whole contig, by number.
        level: the largest p-value of one test, as it may be called.
        forced: indels that are wanted in any case.
    """
    limit = np.log(level)
    called = {one: None for tests in samples for one, log_p in tests.log_p.items() if log_p <= limit}
    called |= dict.fromkeys(forced)
    for indel in sorted(called, key=lambda one: (one.column, one.length < 0)):
        yield tuple(_allele(tests, indel, reference) for tests in samples)


def _column_groups(
    counts: IndelCounts, indels: Sequence[Indel], ignored: set[Indel], options: CallOptions
) -> dict[Indel, Groups]:
    """Return the error probabilities for each indel of a column that is tested."""
    column = indels[0].column
    without = counts.without_at(column)
    reads = int(without.count.sum()) + sum(int(counts.indels[one].count.sum()) for one in indels)
    if reads < options.min_cov:
        return {}
    parts = (without, *(counts.indels[one] for one in indels))
    bounds = list(accumulate((len(one.count) for one in parts), initial=0))
    number = np.concatenate([one.count for one in parts])
    unaligned = {
        inserted: np.concatenate([_errors(one, inserted, False, options) for one in parts])
        for inserted in (True, False)
    }
    found = {}
    for at, tested in enumerate(indels, 1):
        if tested not in ignored:
            errors = unaligned[tested.length > 0].copy()
            errors[bounds[at] : bounds[at + 1]] = _errors(parts[at], tested.length > 0, True, options)
            found[tested] = _grouped(errors, number)
    return found


def _errors(reads: Qualities, inserted: bool, aligned: bool, options: CallOptions) -> NDArray[np.float64]:
    """Return the error probability of each entry, with or without that of its alignment."""
    quality = reads.insertion if inserted else reads.deletion
    alignment = np.full(len(quality), NO_ALIGNMENT)
    if aligned:
        alignment = np.where(reads.alignment < 0, NO_ALIGNMENT, reads.alignment)
    return joint_errors(reads.mapping, alignment, quality, use_mapping=not options.no_mq)


def _grouped(probability: NDArray[np.float64], count: NDArray[np.int64]) -> Groups:
    distinct, place = np.unique(probability, return_inverse=True)
    return distinct, np.bincount(place.ravel(), count, len(distinct)).astype(np.int64)


def _errors_of_homopolymers(
    counts: IndelCounts, indels: Sequence[Indel], reference: NDArray[np.uint8]
) -> set[Indel]:
    """Return the indels of single bases A or T that are not tested; see `RARE`."""
    column = indels[0].column
    following = counts.begin + column + 1
    reads = np.float32(max(1, int(counts.depth[column]) - int(counts.tails[column])))
    found: set[Indel] = set()
    for base in (BASES.index("A"), BASES.index("T")):
        pair = [
            one
            for one in indels
            if one.inserted == bytes([base])
            or (one.length == -1 and following < len(reference) and reference[following] == base)
        ]
        rare = all(np.float32(counts.indels[one].count.sum()) / reads < RARE for one in pair)
        if len(pair) == 2 and rare:
            found |= set(pair)
    return found


def _allele(tests: IndelTests, indel: Indel, reference: NDArray[np.uint8]) -> Allele:
    """Return an indel with its values in a sample, which need not have it."""
    counts, column = tests.counts, indel.column
    position = counts.begin + column
    here = counts.by_column.get(column, ())
    others = [counts.without_at(column)]
    others += [counts.indels[one] for one in here if (one.length > 0) != (indel.length > 0)]
    forward, reverse = (sum(pair) for pair in zip(*(one.strands() for one in others), strict=True))
    mine = counts.indels.get(indel)
    alternative = (0, 0) if mine is None else mine.strands()
    log_p = tests.log_p.get(indel)
    if log_p is None:
        chosen = [indel] if indel in tests.groups else []
        log_p = _log_p(counts, tests.groups, chosen, tests.tails).get(indel, 0.0)
    depth = int(counts.depth[column]) - int(counts.tails[column])
    anchor = _LETTERS[reference[position]]
    deleted = "".join(
        _LETTERS[base] for base in reference[position + 1 : position + 1 - min(indel.length, 0)]
    )
    return Allele(
        kind=INDEL,
        position=position,
        reference=anchor + deleted,
        alternative=anchor + "".join(_LETTERS[base] for base in indel.inserted),
        log_p=log_p,
        highest=log_p,
        order=tests.order.get(indel, 0),
        depth=depth,
        dp4=(forward, reverse, *alternative),
        counted=depth,
        count=sum(alternative),
        unfiltered=sum(alternative),
        trials=int(sum(one.count.sum() for one in (others[0], *(counts.indels[one] for one in here)))),
        homopolymer=homopolymer_length(reference, position),
    )
