"""Windows of a contig, one after another: their reads are counted; and the list of all kernels that do it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import BAQ_OF_READS, GAPS_OF_READS, AlignmentQuality, GapQuality
from syclade.host.calls.alignments import Alignments, RawRecords
from syclade.host.calls.counts import Counter, Counts
from syclade.host.calls.indel_counts import IndelCounter
from syclade.host.calls.kernels import BANDS, HOST_KERNELS, HostKernel, Place, banded_kernel, load_host_kernel
from syclade.host.calls.lofreq_compat import DepthLimit, place_states
from syclade.host.calls.read_filter import ReadFilter
from syclade.host.calls.record_parser import RAW_BYTES, Reads, ReadTags, RecordParser, TagReader
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.work import WorkDone, merged_work
from syclade.host.ground.options.calls import CallOptions
from syclade.kernels.pileup.arguments import FIELDS

__all__ = ["WINDOW", "WindowCounter", "alignment_kernels", "call_kernels", "window_ends"]

WINDOW = 2048
"""Columns of a window. Windows begin at multiples of it, so results do not depend on how a contig is
divided."""

Qualities = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.bool_] | None]
"""States and alignment qualities of all letters, and which reads have them stored, if any."""

_NOTHING = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)


def window_ends(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the windows of a region, each without its end."""
    while begin < end:
        stop = min(end, (begin // WINDOW + 1) * WINDOW)
        yield begin, stop
        begin = stop


class WindowCounter:
    """Counts the reads of windows by compiled code; for use by one thread.

    Attributes:
        read_filter: numbers of reads.
        stopped: set by another thread to leave out all further reads, when the result is not wanted any more.

    Args:
        options: which reads and bases count.
        place: where alignment qualities are computed; None: here.
    """

    def __init__(self, options: CallOptions, place: Place | None = None) -> None:
        self._options = options
        self.stopped = False
        self._parser = RecordParser(load_host_kernel("records"), options, BANDS[-1])
        self._columns = load_host_kernel("columns")
        certain = 0 if options.compat else 99
        self._quality = None if options.no_baq else AlignmentQuality(certain=certain, place=place)
        self._tags = TagReader(options)
        self._gaps = GapQuality(place)
        self._indels: HostKernel | None = None
        self.read_filter = ReadFilter(options)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """Reads and gaps whose alignment qualities were computed."""
        return merged_work(one.work for one in (self._quality, self._gaps) if one is not None)

    def count(
        self,
        alignments: Alignments,
        contig: str,
        reference: NDArray[np.uint8],
        begin: int,
        end: int,
        since: int = 0,
    ) -> Generator[Counts, None, None]:
        """Yield the counts of the windows of a region, in order.

        Args:
            alignments: the file.
            contig: name of the contig.
            reference: uint8, bases of the whole contig, by number.
            begin, end: the region, from 0, without `end`.
            since: as for `Piece`.

        Raises:
            ReadsError: the file is damaged, or a read cannot be used.
            DeviceError: a kernel cannot be compiled.
        """
        place = (alignments.file.get_tid(contig), contig, len(reference))
        with RawRecords(alignments, contig, begin, end, self.read_filter, since) as stream:
            carried: list[bytes] = []
            previous = -1
            limit = DepthLimit(self._options.max_depth) if self._options.compat else None
            for first, last in window_ends(begin, end):
                counter = _Counters(Counter(self._columns, self._options, first, last), first, last)
                if self._options.call_indels:
                    self._count_indels(counter)
                pieces, carried = carried, []
                for piece in pieces:
                    reads = self._parser.take(alignments.path, piece, place, last, -1)
                    carried.append(self._add(counter, alignments, reads, reference, piece, contig))
                while not self.stopped:
                    raw = stream.chunk(RAW_BYTES)
                    reads = self._parser.take(alignments.path, raw, place, last, previous)
                    stream.consume(reads.consumed)
                    previous = reads.previous
                    used, those = (raw, reads) if limit is None else self._limited(limit, raw, reads, place)
                    carried.append(self._add(counter, alignments, those, reference, used, contig))
                    if reads.stopped or not (reads.consumed or stream.more()):
                        break
                carried = [piece for piece in carried if piece]
                yield counter.counts()

    def _limited(
        self, limit: DepthLimit, raw: bytes, reads: Reads, contig: tuple[int, str, int]
    ) -> tuple[bytes, Reads]:
        """Return the raw records and the reads that a limit of depth keeps."""
        accepted = limit.accepted(reads.field("position"), reads.field("end"))
        if accepted.all():
            return raw, reads
        fewer = _records(raw, reads, np.flatnonzero(accepted))
        return fewer, self._parser.take(Path(), fewer, contig, contig[2] + 1, -1)

    def _add(
        self,
        counters: _Counters,
        alignments: Alignments,
        reads: Reads,
        reference: NDArray[np.uint8],
        raw: bytes,
        contig: str,
    ) -> bytes:
        """Count reads; return the records of those that reach beyond the window."""
        if not len(reads):
            return b""
        tags = self._tags.find(alignments.path, raw, reads, contig)
        if self._options.compat and (tags.has("BI") | tags.has("BD")).any():
            self._count_indels(counters)  # an indel may be the consensus, where LoFreq tests no bases
        if counters.indels is not None:
            counters.indels.add(reads, tags, reference)
        counters.bases.add(reads, *self._qualities(reads, tags, reference))
        return _records(raw, reads, np.flatnonzero(reads.field("end") > counters.end))

    def _qualities(self, reads: Reads, tags: ReadTags, reference: NDArray[np.uint8]) -> Qualities:
        """Return states and alignment qualities of all letters, and which reads have them stored."""
        if self._quality is None:
            return (*_NOTHING, None)
        stored = tags.has("lb")
        states, confidence = self._quality.compute(reads, reference, stored if stored.any() else None)
        if self._options.compat:
            place_states(reads, states, extended=not self._options.no_ext_baq)
        if not stored.any():
            return states, confidence, None
        self._tags.use_stored(reads, tags, states, confidence)
        windows = reads.fields[:, FIELDS.index("reference")]
        windows[stored] = np.maximum(windows[stored], 1)  # else a read counts as one without qualities
        return states, confidence, stored

    def _count_indels(self, counters: _Counters) -> None:
        """Count indels in a window from now on."""
        if counters.indels is None:
            self._indels = self._indels or load_host_kernel("indels")
            counters.indels = IndelCounter(
                self._indels, self._gaps, self._options, counters.begin, counters.end
            )

    def close(self) -> None:
        """Free the memory."""
        self._gaps.close()
        if self._quality is not None:
            self._quality.close()


def _records(raw: bytes, reads: Reads, chosen: NDArray[np.intp]) -> bytes:
    """Return the raw records of some reads."""
    begins, sizes = reads.field("record")[chosen], reads.field("size")[chosen]
    return b"".join(raw[at : at + size] for at, size in zip(begins.tolist(), sizes.tolist(), strict=True))


@dataclass
class _Counters:
    """Counters of a window, which is `begin` to `end`, from 0, without `end`."""

    bases: Counter
    begin: int
    end: int
    indels: IndelCounter | None = None

    def counts(self) -> Counts:
        """Return the counts so far."""
        indels = None if self.indels is None else self.indels.counts()
        return replace(self.bases.counts(), indels=indels)


def call_kernels() -> Mapping[str, Kernel]:
    """Return the kernels of this processor, by name."""
    return HOST_KERNELS | alignment_kernels("native")


def alignment_kernels(kind: str) -> dict[str, Kernel]:
    """Return the kernels of alignment qualities of a kind of device, by name."""
    found = [banded_kernel(one, widest, kind) for widest in BANDS for one in (BAQ_OF_READS, GAPS_OF_READS)]
    return {one.name: one for one in found}
