"""Raw records of BAM from a region of a file, in pieces.

pysam reads BAM and CRAM record by record, and would take microseconds to make Python objects of the parts of each.
So a thread passes the records on, unread, through a pipe as uncompressed BAM; compiled code takes them apart.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO

from syclade.host.calls.alignments import Alignments
from syclade.host.calls.library import pysam_of
from syclade.host.common.errors import ReadsError

__all__ = ["RawRecords"]

PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031
"""Linux' F_SETPIPE_SZ, which Python 3.11's fcntl has under that name only on Linux."""

_HEADER, _FOOTER = 18, 8
"""Bytes of a BGZF block before and after its data. Source: SAM/BAM specification, section 4.1."""


class RawRecords:
    """Raw records of the reads that overlap a region, in the order of the file; a context manager.

    Args:
        alignments: the file, used by nothing else meanwhile.
        contig: name of the contig.
        begin, end: the region, from 0, without `end`.
    """

    def __init__(self, alignments: Alignments, contig: str, begin: int, end: int) -> None:
        self._alignments = alignments
        self._region = (contig, begin, end)
        self._problem: BaseException | None = None
        self._left = b""

    def __enter__(self) -> RawRecords:
        source, sink = os.pipe()
        _widen(sink)
        self._source = os.fdopen(source, "rb", buffering=0)
        self._thread = threading.Thread(target=self._pass_on, args=(os.fdopen(sink, "wb", buffering=0),))
        self._thread.start()
        self._blocks = _data_of_blocks(self._source)
        self._skip_header()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.close()  # the thread's next write fails, which ends it
        self._thread.join()

    def read(self, size: int) -> bytes:
        """Return up to about `size` bytes, not always whole records; nothing at the end.

        Raises:
            ReadsError: the file is damaged.
        """
        pieces, total = [self._left], len(self._left)
        self._left = b""
        while total < size:
            block = next(self._blocks, b"")
            if not block:
                break
            pieces.append(block)
            total += len(block)
        if total < size:
            self._thread.join()
            if self._problem is not None:
                raise self._explained(self._problem)
        return b"".join(pieces)

    def _skip_header(self) -> None:
        """Drop the header of BAM: magic, text, and the list of contigs."""
        data = bytearray()
        done = 0

        def need(size: int) -> None:
            while len(data) < size:
                block = next(self._blocks, b"")
                if not block:
                    raise self._explained(self._problem or EOFError("no header"))
                data.extend(block)

        need(8)
        done = 8 + int.from_bytes(data[4:8], "little")
        need(done + 4)
        contigs = int.from_bytes(data[done : done + 4], "little")
        done += 4
        for _ in range(contigs):
            need(done + 4)
            done += 8 + int.from_bytes(data[done : done + 4], "little")
        need(done)
        self._left = bytes(data[done:])

    def _pass_on(self, sink: BinaryIO) -> None:
        """Write the region's records to the pipe; run in a thread."""
        pysam = pysam_of()
        out: Any = None
        try:
            out = pysam.AlignmentFile(sink, "wbu", template=self._alignments.file)
            write = out.write
            for read in self._alignments.file.fetch(*self._region):
                write(read)
        except BaseException as problem:
            self._problem = problem
        finally:
            with contextlib.suppress(OSError, ValueError):
                if out is not None:
                    out.close()
            with contextlib.suppress(OSError):
                sink.close()

    def _explained(self, problem: BaseException) -> ReadsError:
        contig, begin, end = self._region
        return ReadsError(
            f"the reads of {contig}:{begin + 1}-{end} cannot be read: {problem}",
            path=self._alignments.path,
            hint="the file may be truncated, or its index may be of another file: samtools quickcheck, index",
        )


def _data_of_blocks(source: BinaryIO) -> Iterator[bytes]:
    """Yield the data of each BGZF block of a stream."""
    waiting = bytearray()
    while True:
        while len(waiting) < _HEADER or len(waiting) < _size_of(waiting):
            piece = source.read(PIPE_BYTES)
            if not piece:
                return
            waiting += piece
        at = 0
        view = memoryview(waiting)
        while len(waiting) - at >= _HEADER:
            size = _size_of(view[at:])
            if at + size > len(waiting):
                break
            data = zlib.decompress(view[at : at + size], wbits=31)
            if data:
                yield data
            at += size
        view.release()
        del waiting[:at]


def _size_of(block: bytearray | memoryview) -> int:
    """Return the size of a BGZF block from its header."""
    return int.from_bytes(block[16:18], "little") + 1


def _widen(pipe: int) -> None:
    """Let a pipe hold more than 64 kB, where the system can."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.fcntl(pipe, _SET_PIPE_SIZE, PIPE_BYTES)
