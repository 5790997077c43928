"""Raw records of BAM from a region of a file, in pieces.

pysam reads BAM and CRAM record by record, and would take microseconds to make Python objects of the parts of
each. So the records go unread to a file in memory, as uncompressed BAM; compiled code takes them apart.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from syclade.host.calls.alignments import Alignments
from syclade.host.calls.library import pysam_of
from syclade.host.calls.read_filter import Intake
from syclade.host.ground.errors import ReadsError

__all__ = ["RawRecords"]

_ROUND = 256
"""Records that are written before the size is looked at."""

_FAR = 1 << 20
"""Reads that overlap a region so far from the end of its contig do not reach beyond it."""

_HEADER = 18
"""Bytes of a BGZF block before its data. Source: SAM/BAM specification, section 4.1."""


class RawRecords:
    """Raw records of the reads that overlap a region, in the order of the file; a context manager.

    Args:
        alignments: the file, used by nothing else meanwhile.
        contig: name of the contig.
        begin, end: the region, from 0, without `end`.
        intake: counts the reads, and changes some.
        since: reads that begin before this position have been counted elsewhere.
    """

    def __init__(
        self, alignments: Alignments, contig: str, begin: int, end: int, intake: Intake, since: int = 0
    ) -> None:
        self._alignments = alignments
        self._intake, self._since = intake, since
        length = alignments.contigs[contig]
        self._beyond = length if length - end < _FAR else None
        self._region = (contig, begin, end)
        self._left = b""
        self._ended = False

    def __enter__(self) -> RawRecords:
        self._pysam = pysam_of()
        self._memory = _memory()
        try:
            self._reads = iter(self._alignments.file.fetch(*self._region))
        except (OSError, ValueError) as problem:
            os.close(self._memory)
            raise self._explained(problem) from problem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._memory)

    def chunk(self, size: int) -> bytes:
        """Return the next bytes without consuming them: at least `size`, unless the region ends before.

        Raises:
            ReadsError: the file is damaged.
        """
        if not self._ended and len(self._left) < size:
            self._left += self._read(size - len(self._left))
        return self._left

    def consume(self, size: int) -> None:
        """Drop the first bytes of the chunk."""
        self._left = self._left[size:]

    def more(self) -> bool:
        """Read on, after a chunk without a whole record; return whether there is anything.

        Raises:
            ReadsError: the file is damaged.
        """
        if not self._ended:
            return len(self.chunk(2 * len(self._left) + 1)) > 0
        if self._left:
            raise self._explained(EOFError("the last record is not whole"))
        return False

    def _read(self, size: int) -> bytes:
        """Return at least `size` bytes of records, unless the region ends before."""
        os.lseek(self._memory, 0, os.SEEK_SET)
        os.ftruncate(self._memory, 0)
        try:
            with (
                os.fdopen(os.dup(self._memory), "wb", buffering=0) as sink,
                self._pysam.AlignmentFile(sink, "wbu", header=self._alignments.short_header) as out,
            ):
                write = out.write
                while os.fstat(self._memory).st_size < size:
                    reads = list(itertools.islice(self._reads, _ROUND))
                    if not reads:
                        self._ended = True
                        break
                    self._intake.take(reads, self._since, self._beyond)
                    for read in reads:
                        write(read)
        except (OSError, ValueError) as problem:
            raise self._explained(problem) from problem
        total = os.fstat(self._memory).st_size
        return _records_of(b"".join(_data_of_blocks(os.pread(self._memory, total, 0))))

    def _explained(self, problem: BaseException) -> ReadsError:
        contig, begin, end = self._region
        return ReadsError(
            f"the reads of {contig}:{begin + 1}-{end} cannot be read: {problem}",
            path=self._alignments.path,
            hint="the file may be truncated, or its index may be of another file: samtools quickcheck, index",
        )


def _memory() -> int:
    """Return the descriptor of a new file in memory; on disk where the system has no such files."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("reads")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _data_of_blocks(stored: bytes) -> Iterator[Any]:
    """Yield the data of each BGZF block."""
    view, at = memoryview(stored), 0
    while at + _HEADER <= len(stored):
        size = int.from_bytes(view[at + 16 : at + 18], "little") + 1
        yield zlib.decompress(view[at : at + size], wbits=31)
        at += size


def _records_of(data: bytes) -> bytes:
    """Return what follows the header of BAM: magic, text, and the list of contigs."""
    at = 8 + int.from_bytes(data[4:8], "little")
    contigs = int.from_bytes(data[at : at + 4], "little")
    at += 4
    for _ in range(contigs):
        at += 8 + int.from_bytes(data[at : at + 4], "little")
    return data[at:]
