"""Counts of bases in the columns of a window, by base, strand and qualities, and the columns to test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.indel_counts import IndelCounts, consensus_indels, grow_table
from syclade.host.calls.kernels import HostKernel
from syclade.host.calls.p_values import UNKNOWN, joint_errors, phred, phred_to_error
from syclade.host.calls.record_parser import Reads
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.values import Array
from syclade.kernels.pileup.arguments import NO_ALIGNMENT, RULES

__all__ = ["ColumnsToTest", "Counter", "Counts", "columns_to_test", "median_of_reference"]


LEAST_QUALITY = 3
"""Bases of lower quality count in the depth only."""

_FIRST_STRIDE = 256


@dataclass(frozen=True)
class Counts:
    """Bases of the columns of a window. Entries are in the order of columns and keys.

    Attributes:
        begin: position of the first column, from 0.
        depth: int32, (columns,): reads, deletions included.
        strands: int32, (columns, 5, 2): bases of quality 3 and more, by base (A, C, G, T, other) and strand
            (forward, reverse).
        column: int32, (entries,): column of each entry.
        base, reverse: uint8, (entries,): base, 0 to 3, and strand.
        mapping, quality, alignment: uint8, (entries,): Phred qualities; mapping 255 and alignment 127 are
            unknown.
        count: int64, (entries,): number of bases.
        indels: reads with and without indels; None if they are not counted.
    """

    begin: int
    depth: NDArray[np.int32]
    strands: NDArray[np.int32]
    column: NDArray[np.int32]
    base: NDArray[np.uint8]
    reverse: NDArray[np.uint8]
    mapping: NDArray[np.uint8]
    quality: NDArray[np.uint8]
    alignment: NDArray[np.uint8]
    count: NDArray[np.int64]
    indels: IndelCounts | None = None


class Counter:
    """Counts the bases of reads in a window.

    Args:
        columns: the kernel that counts.
        options: which bases count.
        begin, end: the window, from 0, without `end`.
    """

    def __init__(self, columns: HostKernel, options: CallOptions, begin: int, end: int) -> None:
        self._columns, self._options = columns, options
        self._begin, self._number = begin, end - begin
        self._table = np.zeros((self._number, 0, 2), dtype=np.uint32)
        self._filled = np.zeros(self._number, dtype=np.int32)
        self._depth = np.zeros(self._number, dtype=np.int32)
        self._strands = np.zeros((self._number, 5, 2), dtype=np.int32)

    def add(
        self,
        reads: Reads,
        states: NDArray[np.int32],
        confidence: NDArray[np.uint8],
        stored: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count reads.

        Args:
            reads: the reads.
            states, confidence: of their letters, by `AlignmentQuality`; empty without alignment qualities.
            stored: bool, (reads,): reads whose qualities were stored in the file, and are not extended; None
                for none.

        Raises:
            ReadsError: a column has more different qualities than there is space for.
        """
        if self._table.shape[1] == 0:  # windows without reads need none
            self._table = np.zeros((self._number, _FIRST_STRIDE, 2), dtype=np.uint32)
        longest = int(reads.field("length").max(initial=0))
        arrays: dict[str, Array] = {
            "raw": reads.raw,
            "fields": reads.fields,
            "bases": reads.bases,
            "qualities": reads.qualities,
            "states": states,
            "confidence": confidence,
            "next": np.zeros(1, dtype=np.int64),
            "filled": self._filled,
            "depth": self._depth,
            "strands": self._strands,
            "aligned": np.zeros(longest, dtype=np.uint8),
        }
        for first, end, extended in _runs(len(reads), stored):
            self._count(arrays, first, end, extended and not self._options.no_ext_baq)

    def _count(self, arrays: dict[str, Array], first: int, end: int, extended: bool) -> None:
        """Count the reads from `first` on, without `end`."""
        aligned = len(arrays["states"]) > 0
        while first < end:
            arrays |= {"rules": self._rules(first, end, aligned, extended), "table": self._table}
            self._columns(arrays)
            first = int(arrays["next"][0])
            if first < end or 4 * int(self._filled.max()) >= 3 * self._table.shape[1]:
                self._table = grow_table(self._table, self._begin)

    def counts(self) -> Counts:
        """Return the counts so far."""
        used = np.flatnonzero(self._filled)
        stride = self._table.shape[1]
        table = (self._table if len(used) == self._number else self._table[used]).reshape(-1, 2)
        places = np.flatnonzero(table[:, 0])
        entries, column = table[places], used[places // max(1, stride)]
        key = entries[:, 0].astype(np.int64) - 1
        order = np.lexsort((key, column))
        column, key = column[order].astype(np.int32), key[order]
        return Counts(
            self._begin,
            self._depth,
            self._strands,
            column,
            (key >> 23).astype(np.uint8),
            (key >> 22 & 1).astype(np.uint8),
            (key >> 14 & 255).astype(np.uint8),
            (key >> 7 & 127).astype(np.uint8),
            (key & 127).astype(np.uint8),
            entries[order, 1].astype(np.int64),
        )

    def _rules(self, first: int, reads: int, aligned: bool, extended: bool) -> NDArray[np.int64]:
        rules = dict(
            first=first,
            reads=reads,
            begin=self._begin,
            columns=self._number,
            stride=self._table.shape[1],
            least=LEAST_QUALITY,
            deepest=self._options.most_in_column,
            aligned=aligned,
            extended=extended,
            skipped=self._options.compat,
        )
        return np.array([rules[name] for name in RULES], dtype=np.int64)


def _runs(reads: int, stored: NDArray[np.bool_] | None) -> Iterator[tuple[int, int, bool]]:
    """Yield runs of reads with and without stored qualities: first, end, whether they are extended."""
    if stored is None or not stored.any():
        yield 0, reads, True
        return
    bounds = [0, *(np.flatnonzero(stored[1:] != stored[:-1]) + 1).tolist(), reads]
    for first, end in pairwise(bounds):
        yield first, end, not stored[first]


assert NO_ALIGNMENT == 127


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
    counted = good & (~alternative | (counts.quality >= options.min_alt_bq))
    quality = _replaced(counts, alternative, columns, options)
    joint = joint_errors(counts.mapping, counts.alignment, quality, use_mapping=not options.no_mq)
    if options.min_jq > 0 or options.min_alt_jq > 0:
        joined = phred(joint, exact=options.compat)
        counted &= (joined >= options.min_jq) & (~alternative | (joined >= options.min_alt_jq))
    if options.def_alt_jq > 0:
        joint[alternative] = phred_to_error(options.def_alt_jq)
    by_base = _sums(counts, counted & alternative, columns)
    bases = counts.strands.sum(axis=(1, 2))
    enough = bases >= options.min_cov
    if options.compat:  # where most reads have a deletion, or an insertion follows, LoFreq does not test
        enough &= 2 * bases >= counts.depth
        if counts.indels is not None:
            enough &= ~consensus_indels(counts.indels)
    tested = enough & (reference < 4) & by_base.any(axis=1)
    order, starts = _grouped(counts.column[counted], joint[counted], columns)
    probability = joint[counted][order]
    count = counts.count[counted][order]
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
        np.bincount(counts.column[counted], counts.count[counted], columns).astype(np.int64),
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
