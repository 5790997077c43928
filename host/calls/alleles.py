"""Alleles: alternative bases with their tests, before it is known how many tests there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.columns import ColumnsToTest
from syclade.host.calls.screen import may_be_significant
from syclade.host.tails import Columns, log_tails

__all__ = ["TESTS_OF_COLUMN", "Allele", "WindowTests", "allele_at", "run_tests"]

TESTS_OF_COLUMN = 3
"""Tests of a column: one for each alternative base, whether it was seen or not."""


@dataclass(frozen=True)
class Allele:
    """An alternative base of a column of one sample.

    Attributes:
        position: position of the column, from 0.
        reference, alternative: bases by number.
        log_p: ln of the test's p-value; 0 without a test.
        highest: that of the column's most frequent alternative, the smallest one.
        order: columns tested in this window up to and including this one.
        depth: reads of the column, deletions included.
        bases: bases of quality 3 and more, by base (A, C, G, T) and strand: 8 numbers.
        count: bases with this alternative in the test.
        good: bases with this alternative of sufficient base quality.
        trials: bases in the test.
    """

    position: int
    reference: int
    alternative: int
    log_p: float
    highest: float
    order: int
    depth: int
    bases: tuple[int, ...]
    count: int
    good: int
    trials: int

    @property
    def dp4(self) -> tuple[int, int, int, int]:
        """Bases of the reference, forward and reverse, and of the alternative."""
        ref, alt = 2 * self.reference, 2 * self.alternative
        forward, reverse = self.bases[ref : ref + 2] if self.reference < 4 else (0, 0)
        return forward, reverse, self.bases[alt], self.bases[alt + 1]


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


def run_tests(columns: ColumnsToTest, sig: float, forced: NDArray[np.bool_] | None = None) -> WindowTests:
    """Test the columns of a window.

    Args:
        columns: the columns.
        sig: alternatives whose p-value certainly exceeds this need no exact one.
        forced: columns whose alternatives need an exact p-value in any case.

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
    tails = log_tails(made, device="native").log_tails
    return WindowTests(tested, dict(zip(wanted, tails.tolist(), strict=True)), order)


def allele_at(columns: ColumnsToTest, tests: WindowTests, column: int, base: int) -> Allele:
    """Return the allele of a column and an alternative base."""
    counts = columns.counts
    tails = [tests.log_p.get((column, one), 0.0) for one in range(4)]
    return Allele(
        counts.begin + column,
        int(columns.reference[column]),
        base,
        tails[base],
        min(tails),
        int(tests.order[column]),
        int(counts.depth[column]),
        tuple(counts.strands[column, :4].ravel().tolist()),
        int(columns.alternatives[column, base]),
        int(columns.good[column, base]),
        int(columns.trials[column]),
    )
