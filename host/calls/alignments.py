"""Files of aligned reads: checked when opened, and read as raw records of BAM, also from CRAM.

pysam would take microseconds to make Python objects of the parts of each record. So records go unread to a
file in memory, as uncompressed BAM, and compiled code parses them.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import itertools
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from syclade.host.calls.read_filter import ReadFilter
from syclade.host.calls.reference import Reference
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.files import problem_of
from syclade.host.ground.packages import pysam_of, quiet_finalizers

if TYPE_CHECKING:
    from pysam import AlignmentFile, AlignmentHeader

__all__ = ["Alignments", "RawRecords", "inputs_of", "open_alignments"]


class Alignments:
    """An open file of aligned reads with its index.

    Attributes:
        path: the file.
        contigs: length of each contig, by name, in the order of the header.
        sample: the sample's name: that of its read groups, else the file's.
        digests: MD5 of the contigs that have one in the header (`M5`), by name.
        without_reads: contigs that have no reads, as far as the index tells.
        unplaced: unmapped reads without a position, as far as the index tells.

    Args:
        path: a BAM or CRAM file, sorted by position, with an index.
        reference: the reference's file, with a fitting index beside it, which CRAM needs.

    Raises:
        ReadsError: the file cannot be read, is not sorted, or has no index.
    """

    def __init__(self, path: str | os.PathLike[str], reference: Path) -> None:
        self.path = Path(path)
        self.file = _opened(self.path, reference)
        try:
            header = self.file.header.to_dict()
            self.contigs: dict[str, int] = dict(zip(self.file.references, self.file.lengths, strict=True))
        except (ValueError, KeyError, AssertionError) as problem:
            raise ReadsError(f"its header is damaged: {problem}", path=path) from problem
        order = header.get("HD", {}).get("SO")
        if order in ("unsorted", "queryname"):
            how = "not sorted" if order == "unsorted" else "sorted by name"
            raise ReadsError(f"the reads are {how}", path=path, hint="sort them by position: samtools sort")
        if not _has_index(self.file):
            raise ReadsError("there is no index", path=path, hint=f"make one: samtools index {path}")
        self.digests: dict[str, str] = {
            one["SN"]: one["M5"] for one in header.get("SQ", []) if "SN" in one and "M5" in one
        }
        self.without_reads, self.unplaced = _without_reads(self.file, self.path)
        names = dict.fromkeys(group["SM"] for group in header.get("RG", []) if group.get("SM"))
        self.sample = next(iter(names)) if len(names) == 1 else self.path.name.rsplit(".", 1)[0]

    @cached_property
    def short_header(self) -> AlignmentHeader:
        """A header with the contigs' numbers as names, for records that need one: there may be thousands."""
        names, lengths = map(str, range(len(self.contigs))), self.contigs.values()
        return pysam_of().AlignmentHeader.from_references(list(names), list(lengths))

    def __enter__(self) -> Alignments:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # of a damaged file, which has been reported
            self.file.close()


def open_alignments(path: str | os.PathLike[str], reference: Reference) -> Alignments:
    """Open a file of aligned reads, and check that its contigs are those of the reference.

    The lengths are compared at once, and MD5s, if the header has some, when a contig is read.

    Raises:
        ReadsError: as for `Alignments`; or a contig is missing in the reference, or has another length there.
    """
    opened = Alignments(path, reference.readable)
    reference.expect(opened.digests, opened.path)
    for name, length in opened.contigs.items():
        there = reference.lengths.get(name)
        if there == length:
            continue
        if there is None and name in opened.without_reads:
            continue
        what = "is not in" if there is None else f"has {length} positions, and {there} in"
        opened.file.close()
        raise ReadsError(
            f"contig {name} {what} the reference {reference.path}",
            path=path,
            hint="give the reference that the reads were aligned to",
        )
    return opened


def _opened(path: Path, reference: Path) -> AlignmentFile:
    pysam = pysam_of()
    problem = problem_of(path)
    if problem is not None:
        raise ReadsError(problem, path=path)
    try:
        with quiet_finalizers():
            opened = pysam.AlignmentFile(str(path), reference_filename=str(reference))
    except (OSError, ValueError) as problem:
        raise ReadsError(f"cannot be read as BAM or CRAM: {problem}", path=path) from problem
    if opened.is_sam:
        opened.close()
        raise ReadsError(
            "this is a SAM file, which has no index",
            path=path,
            hint="convert it: samtools sort -o reads.bam, then samtools index reads.bam",
        )
    return opened


def _has_index(opened: AlignmentFile) -> bool:
    try:
        return bool(opened.has_index())
    except (OSError, ValueError, AttributeError):
        return False


def _without_reads(opened: AlignmentFile, path: Path) -> tuple[frozenset[str], int]:
    """Return the contigs that have no reads, and the number of unmapped reads without a position.

    Both are read from the index, where it tells them: some programs write indexes of BAM without counts.
    """
    try:
        if opened.is_cram:
            used = _in_index_of_cram(path)
            empty = [name for number, name in enumerate(opened.references) if number not in used]
            return frozenset(empty if used else ()), 0
        counts = {one.contig: one.total for one in opened.get_index_statistics()}
        unplaced = int(opened.nocoordinate)
        if not any(counts.values()):
            first = next(opened.head(1), None)
            if first is not None and first.reference_id >= 0:
                return frozenset(), 0
        return frozenset(name for name, count in counts.items() if not count), unplaced
    except (OSError, ValueError, AttributeError, NotImplementedError, EOFError):
        return frozenset(), 0


def _in_index_of_cram(path: Path) -> set[int]:
    """Return the numbers of the contigs that have slices, -1 for reads without a position.

    Source: CRAM specification, section 12: a line has the contig first, then where and how long the slice is.
    """
    for index in (Path(f"{path}.crai"), path.with_suffix(".crai")):
        if index.exists():
            data = index.read_bytes()
            text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            return {int(line.split(b"\t", 1)[0]) for line in text.splitlines()}
    return set()


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
        read_filter: counts the reads, and changes some.
        since: reads that begin before this position have been counted elsewhere.
    """

    def __init__(
        self,
        alignments: Alignments,
        contig: str,
        begin: int,
        end: int,
        read_filter: ReadFilter,
        since: int = 0,
    ) -> None:
        self._alignments = alignments
        self._read_filter, self._since = read_filter, since
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
                os.fdopen(os.dup(self._memory), "wb", buffering=0) as stream,
                self._pysam.AlignmentFile(stream, "wbu", header=self._alignments.short_header) as out,
            ):
                write = out.write
                while os.fstat(self._memory).st_size < size:
                    reads = list(itertools.islice(self._reads, _ROUND))
                    if not reads:
                        self._ended = True
                        break
                    self._read_filter.take(reads, self._since, self._beyond)
                    for read in reads:
                        write(read)
        except (OSError, ValueError) as problem:
            if isinstance(problem, OSError) and problem.errno in _NO_ROOM:
                raise self._without_room(problem) from problem
            raise self._explained(problem) from problem
        total = os.fstat(self._memory).st_size
        return _records_of(b"".join(_data_of_blocks(os.pread(self._memory, total, 0))))

    def _without_room(self, problem: OSError) -> ReadsError:
        contig, begin, end = self._region
        return ReadsError(
            f"the reads of {contig}:{begin + 1}-{end} cannot be copied into memory: "
            f"{os.strerror(problem.errno or 0)}",
            path=self._alignments.path,
            hint="a limit of the size of files (ulimit -f) counts for this copy, too",
        )

    def _explained(self, problem: BaseException) -> ReadsError:
        contig, begin, end = self._region
        return ReadsError(
            f"the reads of {contig}:{begin + 1}-{end} cannot be read: {problem}",
            path=self._alignments.path,
            hint="the file may be truncated, or its index may be of another file: samtools quickcheck, index",
        )


_NO_ROOM = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)
"""Numbers of errors where a copy of reads has no room."""


def _memory() -> int:
    """Return the descriptor of a new file in memory; on disk where the system has no such files."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("reads")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _data_of_blocks(stored: bytes) -> Iterator[bytes]:
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


_INDEXES = (".bai", ".csi", ".crai", ".fai", ".gzi", ".tbi")
"""Endings of indexes of BAM, CRAM, FASTA and VCF."""


def inputs_of(reads: Sequence[Path], reference: Path, **others: Path | None) -> dict[str, Path]:
    """Return the inputs and their indexes, which may not exist, by the user's names for them.

    Args:
        reads: the files of reads.
        reference: the reference.
        others: other files that are read, by name; None for one that is not given.
    """
    files = {"the reference": reference, **{f"the reads {path}": path for path in reads}}
    files |= {f"the {name}": path for name, path in others.items() if path is not None}
    indexes = {}
    for name, path in files.items():
        for ending in _INDEXES:
            indexes[f"the index ({ending}) of {name}"] = path.with_name(path.name + ending)
            if path.suffix in (".bam", ".cram"):  # samtools also finds reads.bai
                indexes[f"the index ({ending}) of {name}, by its short name,"] = path.with_suffix(ending)
    return indexes | files
