"""Alleles: kinds of variants, and alternative bases with their tests, before the number of tests is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.counts import ColumnsToTest
from syclade.host.calls.p_values import ExactTails, may_be_significant
from syclade.host.calls.reference import BASES
from syclade.host.calls.tails import Columns
from syclade.host.ground.options.calls import CallOptions

__all__ = [
    "INDEL",
    "KINDS",
    "SNV",
    "Allele",
    "Kind",
    "Tested",
    "WindowTests",
    "allele_at",
    "kinds_of",
    "number_of_tests",
    "run_tests",
]


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
