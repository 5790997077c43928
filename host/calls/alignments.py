"""Files of aligned reads: checked when opened, and read as raw records of BAM, also from CRAM."""

from __future__ import annotations

import contextlib
import gzip
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from syclade.host.calls.library import pysam_of, quiet_finalizers
from syclade.host.calls.reference import Reference
from syclade.host.ground.distinct_paths import problem_of
from syclade.host.ground.errors import ReadsError

__all__ = ["Alignments", "open_alignments"]


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
            said = "not sorted" if order == "unsorted" else "sorted by name"
            raise ReadsError(f"the reads are {said}", path=path, hint="sort them by position: samtools sort")
        if not _has_index(self.file):
            raise ReadsError("there is no index", path=path, hint=f"make one: samtools index {path}")
        self.digests: dict[str, str] = {
            one["SN"]: one["M5"] for one in header.get("SQ", []) if "SN" in one and "M5" in one
        }
        self.without_reads, self.unplaced = _without_reads(self.file, self.path)
        names = dict.fromkeys(group["SM"] for group in header.get("RG", []) if group.get("SM"))
        self.sample = next(iter(names)) if len(names) == 1 else self.path.name.rsplit(".", 1)[0]

    @cached_property
    def short_header(self) -> Any:
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


def _opened(path: Path, reference: Path) -> Any:
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


def _has_index(opened: Any) -> bool:
    try:
        return bool(opened.has_index())
    except (OSError, ValueError, AttributeError):
        return False


def _without_reads(opened: Any, path: Path) -> tuple[frozenset[str], int]:
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
