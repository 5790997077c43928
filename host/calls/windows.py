"""Windows of a contig, one after another: their reads are counted, and their columns tested."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import BANDS, AlignmentQuality
from syclade.host.calls.alignments import Alignments
from syclade.host.calls.compiled import compiled_columns, compiled_records
from syclade.host.calls.counts import Counter, Counts
from syclade.host.calls.options import CallOptions
from syclade.host.calls.stream import RawRecords
from syclade.host.calls.taking import RAW_BYTES, Reads, Taker

__all__ = ["WINDOW", "WindowCounter", "window_ends"]

WINDOW = 2048
"""Columns of a window. Windows begin at multiples of it, so results do not depend on how a contig is
divided."""

_NOTHING: Any = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)


def window_ends(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the windows of a region, each without its end."""
    while begin < end:
        stop = min(end, (begin // WINDOW + 1) * WINDOW)
        yield begin, stop
        begin = stop


class WindowCounter:
    """Counts the reads of windows by compiled code; for use by one thread.

    Attributes:
        records: records of the files that were seen.
        empty: those without bases.
        stopped: set by another thread to leave out all further reads, when the result is not wanted any more.

    Args:
        options: which reads and bases count.
    """

    def __init__(self, options: CallOptions) -> None:
        self._options = options
        self.stopped = False
        self._taker = Taker(compiled_records(), options, BANDS[-1])
        self._columns = compiled_columns()
        self._quality = None if options.no_baq else AlignmentQuality(certain=0 if options.compat else 99)
        self.records = self.empty = 0

    def count(
        self,
        alignments: Alignments,
        contig: str,
        reference: NDArray[np.uint8],
        begin: int,
        end: int,
    ) -> Generator[Counts, None, None]:
        """Yield the counts of the windows of a region, in order.

        Args:
            alignments: the file.
            contig: name of the contig.
            reference: uint8, bases of the whole contig, by number.
            begin, end: the region, from 0, without `end`.

        Raises:
            ReadsError: the file is damaged, or a read cannot be used.
            DeviceError: a kernel cannot be compiled.
        """
        number = list(alignments.contigs).index(contig)
        place = (number, contig, len(reference))
        with RawRecords(alignments, contig, begin, end) as stream:
            carried: list[bytes] = []
            previous = -1
            for first, last in window_ends(begin, end):
                counter = Counter(self._columns, self._options, first, last)
                pieces, carried = carried, []
                for piece in pieces:
                    reads = self._taker.take(alignments.path, piece, place, last, -1)
                    carried.append(self._add(counter, reads, reference, piece, last))
                while not self.stopped:
                    raw = stream.chunk(RAW_BYTES)
                    reads = self._taker.take(alignments.path, raw, place, last, previous)
                    stream.consume(reads.consumed)
                    previous = reads.previous
                    self.records += reads.records
                    self.empty += reads.empty
                    carried.append(self._add(counter, reads, reference, raw, last))
                    if reads.stopped or not (reads.consumed or stream.more()):
                        break
                carried = [piece for piece in carried if piece]
                yield counter.counts()

    def _add(
        self, counter: Counter, reads: Reads, reference: NDArray[np.uint8], raw: bytes, last: int
    ) -> bytes:
        """Count reads; return the records of those that reach beyond the window."""
        if not len(reads):
            return b""
        found = _NOTHING if self._quality is None else self._quality.compute(reads, reference)
        counter.add(reads, *found)
        beyond = np.flatnonzero(reads.field("end") > last)
        begins, sizes = reads.field("record")[beyond], reads.field("size")[beyond]
        return b"".join(raw[at : at + size] for at, size in zip(begins.tolist(), sizes.tolist(), strict=True))

    def close(self) -> None:
        """Free the memory."""
        if self._quality is not None:
            self._quality.close()
