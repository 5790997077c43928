"""Columns to test: their error probabilities in groups, and the count of each alternative base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.counts import Counts
from syclade.host.calls.error_probabilities import UNKNOWN, joint_errors, phred, phred_to_error
from syclade.host.calls.indel_counts import consensus_indels
from syclade.host.calls.options import CallOptions

__all__ = ["ColumnsToTest", "columns_to_test", "median_of_reference"]


@dataclass(frozen=True)
class ColumnsToTest:
    """The columns of a window with what their tests need.

    Attributes:
        counts: the counts that they come from.
        reference: uint8, (columns,): base of the reference, 0 to 3; 4 is not tested.
        tested: bool, (columns,): whether any alternative base was counted, so that three tests are done.
        alternatives: int64, (columns, 4): bases that count in the tests, by base; 0 for that of the
            reference.
        unfiltered: int64, (columns, 4): the same before the filters of alternative bases and joint qualities.
        trials: int64, (columns,): bases that count in the tests.
        starts: int64, (columns + 1,): where the groups of each column begin.
        probability, count: float64 and int64, (groups,): bases with the same error probability.
    """

    counts: Counts
    reference: NDArray[np.uint8]
    tested: NDArray[np.bool_]
    alternatives: NDArray[np.int64]
    unfiltered: NDArray[np.int64]
    trials: NDArray[np.int64]
    starts: NDArray[np.int64]
    probability: NDArray[np.float64]
    count: NDArray[np.int64]

    def groups(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return error probabilities, ascending, and counts of a column."""
        part = slice(self.starts[column], self.starts[column + 1])
        return self.probability[part], self.count[part]


def columns_to_test(counts: Counts, reference: NDArray[np.uint8], options: CallOptions) -> ColumnsToTest:
    """Return the columns of a window, with bases filtered and their qualities joined.

    Args:
        counts: the counts of the window.
        reference: uint8, (columns,): bases of the reference.
        options: which bases count.
    """
    columns = len(counts.depth)
    alternative = counts.base != reference[counts.column]
    known = reference[counts.column] < 4
    good = known & (counts.quality >= options.min_bq)
    kept = good & (~alternative | (counts.quality >= options.min_alt_bq))
    quality = _replaced(counts, alternative, columns, options)
    joint = joint_errors(counts.mapping, counts.alignment, quality, use_mapping=not options.no_mq)
    if options.min_jq > 0 or options.min_alt_jq > 0:
        joined = phred(joint, exact=options.compat)
        kept &= (joined >= options.min_jq) & (~alternative | (joined >= options.min_alt_jq))
    if options.def_alt_jq > 0:
        joint[alternative] = phred_to_error(options.def_alt_jq)
    by_base = _sums(counts, kept & alternative, columns)
    bases = counts.strands.sum(axis=(1, 2))
    enough = bases >= options.min_cov
    if options.compat:  # where most reads have a deletion, or an insertion follows, LoFreq does not test
        enough &= 2 * bases >= counts.depth
        if counts.indels is not None:
            enough &= ~consensus_indels(counts.indels)
    tested = enough & (reference < 4) & by_base.any(axis=1)
    order, starts = _grouped(counts.column[kept], joint[kept], columns)
    probability = joint[kept][order]
    count = counts.count[kept][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = probability[1:] != probability[:-1]
    first[starts[:-1][starts[:-1] < len(order)]] = True
    places = np.flatnonzero(first)
    return ColumnsToTest(
        counts,
        reference,
        tested,
        by_base,
        _sums(counts, good & alternative, columns),
        np.bincount(counts.column[kept], counts.count[kept], columns).astype(np.int64),
        np.searchsorted(places, starts),
        probability[places],
        np.add.reduceat(count, places) if len(places) else count,
    )


def _sums(counts: Counts, chosen: NDArray[np.bool_], columns: int) -> NDArray[np.int64]:
    """Return the number of bases of some entries, int64, (columns, 4)."""
    place = counts.column[chosen].astype(np.int64) * 4 + counts.base[chosen]
    return np.bincount(place, counts.count[chosen], 4 * columns).astype(np.int64).reshape(columns, 4)


def _grouped(
    column: NDArray[np.int32], joint: NDArray[np.float64], columns: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the order by column and probability, and where each column begins in it."""
    order = np.lexsort((joint, column))
    return order, np.searchsorted(column[order], np.arange(columns + 1))


def _replaced(
    counts: Counts, alternative: NDArray[np.bool_], columns: int, options: CallOptions
) -> NDArray[np.uint8]:
    """Return the base qualities, with those of alternative bases replaced as the options say."""
    quality = counts.quality.copy()
    if options.def_alt_bq > 0:
        quality[alternative] = options.def_alt_bq
    elif options.def_alt_bq < 0:
        quality[alternative] = median_of_reference(counts, ~alternative, columns)[counts.column[alternative]]
    return quality


def median_of_reference(counts: Counts, is_reference: NDArray[np.bool_], columns: int) -> NDArray[np.uint8]:
    """Return the median base quality of the reference's bases, uint8, (columns,).

    Of an even number, it is the mean of the two in the middle, cut to an integer. Without such bases, it is
    `UNKNOWN`, as in LoFreq: a base call is then no source of errors.
    """
    histogram = np.zeros((columns, 128), dtype=np.int64)
    np.add.at(
        histogram, (counts.column[is_reference], counts.quality[is_reference]), counts.count[is_reference]
    )
    totals = histogram.cumsum(axis=1)
    number = totals[:, -1:]
    lower = np.argmax(totals > np.maximum(number - 1, 0) // 2, axis=1)
    upper = np.argmax(totals > number // 2, axis=1)
    return np.where(number[:, 0] > 0, (lower + upper) // 2, UNKNOWN).astype(np.uint8)
