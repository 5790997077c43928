"""Reads as they come from a file: counted by why they are left out, and changed where they must be.

The kernel of records leaves out the same reads; it does not count them by reason.
"""

from __future__ import annotations

import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.ground.options.calls import CallOptions, call_flag

if TYPE_CHECKING:
    from pysam import AlignedSegment

__all__ = ["REASONS", "ReadCounts", "ReadFilter", "Reason", "clipped_cigar", "reason_of"]


class Reason(NamedTuple):
    """Why reads are left out.

    Attributes:
        name: its name in JSON.
        words: what these reads are.
        hint: the option that uses them; empty if there is none.
    """

    name: str
    words: str
    hint: str


REASONS = (
    Reason("unmapped", "unmapped", ""),
    Reason("secondary", "secondary alignments", ""),
    Reason("failed", "of failed quality", ""),
    Reason("duplicate", "duplicates", ""),
    Reason("mapping_quality", "of lower mapping quality", f"{call_flag('min_mq')} sets the limit"),
    Reason("improper_pair", "improperly paired", f"{call_flag('use_orphan')} uses them"),
    Reason("no_bases", "without bases", ""),
)
"""Reasons in the order of their checks: a read is counted by the first one."""

_FLAGS = {0x4: "unmapped", 0x100: "secondary", 0x200: "failed", 0x400: "duplicate"}
_PAIRED, _PROPER = 0x1, 0x2
_USED, _CLIPPED, _ASSUMED = "used", "clipped", "assumed"

_MATCHES, _ON_REFERENCE, _ON_READ = (0, 7, 8), (0, 2, 3, 7, 8), (0, 1, 4, 7, 8)
"""Operations of a CIGAR. Source: SAM/BAM specification, section 1.4.6."""
_SOFT, _HARD = 4, 5

_KEY, _LENGTH = attrgetter("flag", "mapping_quality"), attrgetter("query_length")


@dataclass(frozen=True)
class ReadCounts:
    """Numbers of reads.

    Attributes:
        total: all reads.
        left_out: those that are left out, by the names of `REASONS`; only reasons that occur.
        clipped: those that are used as far as the end of their contig.
        assumed: those that have an assumed base quality.
    """

    total: int
    left_out: Mapping[str, int]
    clipped: int
    assumed: int

    @classmethod
    def of(cls, counts: Mapping[str, int], unplaced: int = 0) -> ReadCounts:
        """Return the numbers from the counts of `ReadFilter`.

        Args:
            counts: the counts.
            unplaced: unmapped reads without a position besides.
        """
        numbers = {one.name: counts.get(one.name, 0) for one in REASONS}
        numbers["unmapped"] += unplaced
        left_out = {name: number for name, number in numbers.items() if number}
        total = counts.get(_USED, 0) + sum(left_out.values())
        return cls(total, left_out, counts.get(_CLIPPED, 0), counts.get(_ASSUMED, 0))

    @property
    def used(self) -> int:
        """Reads that are not left out."""
        return self.total - sum(self.left_out.values())

    def reasons(self, *, hints: bool = False) -> str:
        """Return why reads are left out, as a list; empty if none is."""
        hint = {one.name: f" ({one.hint})" if hints and one.hint else "" for one in REASONS}
        found = [(self.left_out[one.name], one) for one in REASONS if one.name in self.left_out]
        return ", ".join(f"{number} {one.words}{hint[one.name]}" for number, one in found)


def reason_of(flag: int, mapping: int, options: CallOptions) -> str | None:
    """Return why a read with bases is left out, by a name of `REASONS`; None if it is not.

    Args:
        flag: its flags.
        mapping: its mapping quality.
        options: which reads count.
    """
    for bit, name in _FLAGS.items():
        if flag & bit:
            return name
    if mapping < options.min_mq:
        return "mapping_quality"
    if options.compat and mapping > options.max_mq:  # LoFreq then looks at nothing else
        return None
    if not options.use_orphan and flag & _PAIRED and not flag & _PROPER:
        return "improper_pair"
    return None


class ReadFilter:
    """Counts reads, and changes those that could not be used otherwise; for use by one thread.

    Attributes:
        counts: number of reads, by reason, and of those used, clipped, and with assumed qualities.

    Args:
        options: which reads count, and the base quality to assume.
    """

    def __init__(self, options: CallOptions) -> None:
        self._options = options
        self.counts: Counter[str] = Counter()

    def take(self, reads: Sequence[AlignedSegment], since: int, beyond: int | None) -> None:
        """Count some reads, in the order of the file, and change them in place.

        Args:
            reads: objects of pysam.
            since: reads that begin before this position have been counted elsewhere.
            beyond: end of the contig, if reads are to be clipped there.
        """
        if self._options.assume_quality is not None:
            self._assume(reads, since)
        if beyond is not None:
            self._clip(reads, since, beyond)
        if reads and reads[0].reference_start < since:
            reads = [read for read in reads if read.reference_start >= since]
        if 0 in map(_LENGTH, reads):
            empty = [read for read in reads if not read.query_length]
            self._count(Counter(map(_KEY, empty)), "no_bases")
            reads = [read for read in reads if read.query_length]
        self._count(Counter(map(_KEY, reads)), _USED)

    def _count(self, found: Mapping[tuple[int, int], int], otherwise: str) -> None:
        for (flag, mapping), number in found.items():
            self.counts[reason_of(flag, mapping, self._options) or otherwise] += number

    def _assume(self, reads: Sequence[AlignedSegment], since: int) -> None:
        """Give a base quality to the reads that have none."""
        quality = self._options.assume_quality
        for read in reads:
            if read.query_length and read.query_qualities is None:
                read.query_qualities = array.array("B", [quality] * read.query_length)
                self._note(read, since, _ASSUMED)

    def _clip(self, reads: Sequence[AlignedSegment], since: int, end: int) -> None:
        """Clip the reads that reach beyond the end of their contig, as aligners of circular genomes write."""
        for read in reads:
            if read.cigartuples and (read.reference_end or 0) > end:
                read.cigartuples = clipped_cigar(read.cigartuples, end - read.reference_start)
                self._note(read, since, _CLIPPED)

    def _note(self, read: AlignedSegment, since: int, what: str) -> None:
        """Count a changed read, if it is used and counted here."""
        counted = read.reference_start >= since and read.query_length
        if counted and reason_of(read.flag, read.mapping_quality, self._options) is None:
            self.counts[what] += 1


def clipped_cigar(cigar: Sequence[tuple[int, int]], positions: int) -> list[tuple[int, int]]:
    """Return a CIGAR that ends with the last of some positions of the reference; the rest is clipped.

    Args:
        cigar: operations and lengths.
        positions: number of positions of the reference that are left, at least 1.
    """
    found: list[tuple[int, int]] = []
    clipped = 0
    for operation, length in cigar:
        if operation == _HARD and found:
            continue
        if not positions:
            clipped += length if operation in _ON_READ else 0
            continue
        length_left = min(length, positions) if operation in _ON_REFERENCE else length
        positions -= length_left if operation in _ON_REFERENCE else 0
        clipped += length - length_left if operation in _MATCHES else 0
        found.append((operation, length_left))
    while found and found[-1][0] not in _MATCHES:  # no deletion or skip at the end
        operation, length = found.pop()
        clipped += length if operation in _ON_READ else 0
    hard = [one for one in cigar[-1:] if one[0] == _HARD and len(cigar) > 1]
    return [*found, *([(_SOFT, clipped)] if clipped else []), *hard]
