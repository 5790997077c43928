"""Tests of windows of the genome, for all samples; `Worker` does the whole work of one thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignments import Alignments
from syclade.host.calls.allele_tests import WindowTests, allele_at, indel_alleles, run_indel_tests, run_tests
from syclade.host.calls.alleles import INDEL, SNV, Allele, Tested, number_of_tests
from syclade.host.calls.counts import ColumnsToTest, Counts, columns_to_test
from syclade.host.calls.indel_counts import Indel
from syclade.host.calls.kernels import Place
from syclade.host.calls.p_values import ExactTails
from syclade.host.calls.reference import BASES, codes_of
from syclade.host.calls.regions import Here, Interval, Piece
from syclade.host.calls.windows import WindowCounter
from syclade.host.device.work import WorkDone, merged_work
from syclade.host.ground.options.calls import CallOptions

__all__ = ["WindowResult", "Worker"]


MARGIN = 1.28
"""Alleles whose p-value exceeds the level by at most this factor are kept; `may_be_called` has a smaller
margin."""


class ColumnCounts(NamedTuple):
    """Numbers of columns of a sample.

    Attributes:
        covered: those with reads.
        bases: reads of all columns.
        usable: those with bases that tests use, were there an alternative.
        known: those with bases, where the reference has one.
        differing: those of them where most bases are another one than the reference.
        left_out: indels in homopolymers that are not tested.
    """

    covered: int
    bases: int
    usable: int
    known: int
    differing: int
    left_out: int


@dataclass(frozen=True)
class WindowResult:
    """A window after its tests.

    Attributes:
        interval: its positions.
        tested: columns and indels tested, by sample.
        alleles: alternatives that may be called in any sample, or are forced: for each, its values in every
            sample, in the order of positions, kinds (indels first) and bases.
        columns: numbers of columns, by sample.
    """

    interval: Interval
    tested: tuple[Tested, ...]
    alleles: tuple[tuple[Allele, ...], ...]
    columns: tuple[ColumnCounts, ...]


class Worker:
    """Counts and tests windows; for use by one thread.

    Args:
        paths: the samples' files.
        reference: the reference's file, which CRAM needs.
        options: what decides the records.
        place: where alignment qualities and tests are computed; None: here.
    """

    def __init__(
        self, paths: Sequence[Path], reference: Path, options: CallOptions, place: Place | None
    ) -> None:
        self._options = options
        self._open = ExitStack()
        self._files = [self._open.enter_context(Alignments(path, reference)) for path in paths]
        self._counters = [WindowCounter(options, place) for _ in paths]
        self._tails = ExactTails(place)

    @property
    def reads(self) -> tuple[Counter[str], ...]:
        """Numbers of reads, by sample; see `ReadFilter`."""
        return tuple(counter.read_filter.counts for counter in self._counters)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """Reads and gaps aligned, and columns tested."""
        return merged_work((*(counter.work for counter in self._counters), self._tails.work))

    def windows(self, piece: Piece, reference: NDArray[np.uint8], forced: Here) -> list[WindowResult]:
        """Return the windows of a piece.

        Args:
            piece: the piece.
            reference: uint8, bases of its contig, by number.
            forced: sites that get records in any case.

        Raises:
            ReadsError: a file is damaged, or a read cannot be used.
            DeviceError: a kernel cannot be compiled.
        """
        streams = [
            counter.count(file, piece.contig, reference, piece.begin, piece.end, piece.since)
            for counter, file in zip(self._counters, self._files, strict=True)
        ]
        try:
            return [
                tested_window(piece.contig, counts, reference, self._options, forced, self._tails)
                for counts in zip(*streams, strict=True)
            ]
        finally:
            for stream in streams:
                stream.close()

    def stop(self) -> None:
        """End the current piece soon; called by another thread when its result is not wanted any more."""
        for counter in self._counters:
            counter.stopped = True

    def close(self) -> None:
        """Close the files and free the memory."""
        for counter in self._counters:
            counter.close()
        self._open.close()


def tested_window(
    contig: str,
    samples: Sequence[Counts],
    reference: NDArray[np.uint8],
    options: CallOptions,
    forced: Here,
    tails: ExactTails,
) -> WindowResult:
    """Test a window of all samples.

    Args:
        contig: name of the contig.
        samples: counts of the window, by sample.
        reference: uint8, bases of the contig, by number.
        options: what decides the records.
        forced: sites that get records in any case.
        tails: computes exact p-values.
    """
    begin, width = samples[0].begin, len(samples[0].depth)
    snvs = _snvs(samples, reference, options, forced, tails)
    indels = _indels(samples, reference, options, forced, tails)
    alleles = sorted((*indels.alleles, *snvs.alleles), key=lambda one: one[0].position)
    return WindowResult(
        Interval(contig, begin, begin + width),
        tuple({SNV: snv, INDEL: indel} for snv, indel in zip(snvs.tested, indels.tested, strict=True)),
        tuple(alleles),
        tuple(
            _column_counts(counts, reference, options, left_out)
            for counts, left_out in zip(samples, indels.left_out or (0,) * len(samples), strict=True)
        ),
    )


def _column_counts(
    counts: Counts, reference: NDArray[np.uint8], options: CallOptions, left_out: int
) -> ColumnCounts:
    """Count the columns of a sample; see `tested_window`."""
    bases, here = counts.strands.sum(axis=2), reference[counts.begin : counts.begin + len(counts.depth)]
    known = (here < len(BASES)) & bases.any(axis=1)
    differing = known & (bases.argmax(axis=1) != here)
    good = np.zeros(len(here), dtype=bool)
    good[counts.column[counts.quality >= options.min_bq]] = True
    usable = known & good & (bases.sum(axis=1) >= options.min_cov)
    return ColumnCounts(
        int((counts.depth > 0).sum()),
        int(counts.depth.sum(dtype=np.int64)),
        int(usable.sum()),
        int(known.sum()),
        int(differing.sum()),
        left_out,
    )


class _Found(NamedTuple):
    """Tests of a kind.

    Attributes:
        tested: number of tests, by sample.
        alleles: those that may be called, in the order of positions.
        left_out: number of indels that are not tested, by sample; empty for bases.
    """

    tested: tuple[int, ...]
    alleles: tuple[tuple[Allele, ...], ...]
    left_out: tuple[int, ...] = ()


def _snvs(
    samples: Sequence[Counts],
    reference: NDArray[np.uint8],
    options: CallOptions,
    forced: Here,
    tails: ExactTails,
) -> _Found:
    """Test the bases of a window; see `tested_window`."""
    if options.only_indels:
        return _Found((0,) * len(samples), ())
    begin, width = samples[0].begin, len(samples[0].depth)
    bases = reference[begin : begin + width]
    columns = [columns_to_test(counts, bases, options) for counts in samples]
    here = [
        (at - begin, BASES.index(site.alternative))
        for at, found in forced.items()
        for site in found
        if site.is_base and begin <= at < begin + width
    ]
    wanted = np.zeros(width, dtype=bool)
    wanted[[column for column, _ in here]] = True
    level = options.single_level / (options.bonf or 1)
    tests = [run_tests(one, level, tails, wanted) for one in columns]
    chosen = set(here).union(*(_possible(one, level) for one in tests))
    if len(samples) > 1 and chosen:
        tests = [_with_all(one, chosen, level, tails) for one in columns]
    alleles = tuple(
        tuple(allele_at(one, test, column, base) for one, test in zip(columns, tests, strict=True))
        for column, base in sorted(chosen)
    )
    return _Found(tuple(test.tested for test in tests), alleles)


def _indels(
    samples: Sequence[Counts],
    reference: NDArray[np.uint8],
    options: CallOptions,
    forced: Here,
    tails: ExactTails,
) -> _Found:
    """Test the indels of a window; see `tested_window`."""
    counts = [one.indels for one in samples if one.indels is not None]
    if not options.call_indels:
        return _Found((0,) * len(samples), ())
    level = options.single_level / number_of_tests(INDEL, 0, options)
    tests = [run_indel_tests(one, reference, options, level, tails) for one in counts]
    begin, width = samples[0].begin, len(samples[0].depth)
    wanted = [
        Indel(at - begin, site.gap, codes_of(site.alternative[1:]).tobytes())
        for at, found in forced.items()
        for site in found
        if site.is_indel and begin <= at < begin + width
    ]
    alleles = tuple(indel_alleles(tests, reference, level * MARGIN, wanted))
    left_out = tuple(one.left_out + test.ignored for one, test in zip(counts, tests, strict=True))
    return _Found(tuple(len(one.order) for one in tests), alleles, left_out)


def _possible(tests: WindowTests, level: float) -> set[tuple[int, int]]:
    """Return columns and bases whose p-value is at most the level, with a margin."""
    limit = np.log(level * MARGIN)
    return {place for place, log_p in tests.log_p.items() if log_p <= limit}


def _with_all(
    columns: ColumnsToTest, chosen: set[tuple[int, int]], level: float, tails: ExactTails
) -> WindowTests:
    """Return the tests of a sample with exact p-values for alternatives that another sample may have."""
    wanted = np.zeros(len(columns.tested), dtype=bool)
    wanted[[column for column, _ in chosen]] = True
    return run_tests(columns, level, tails, wanted)
