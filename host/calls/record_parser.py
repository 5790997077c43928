"""Parser of raw BAM records: the reads that count, with their bases, qualities, windows and tags.

Tags are stored qualities: of indels (BI, BD), of the alignments of gaps (ai, ad), and BAQ (lb).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.kernels import HostKernel, load_host_kernel
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import CallOptions, call_flag
from syclade.host.ground.values import Array
from syclade.kernels.pileup.arguments import (
    BEYOND,
    DAMAGED,
    FIELDS,
    LIMITS,
    NO_QUALITIES,
    OTHER_CONTIG,
    OUTCOME,
    UNSORTED,
    WRONG_CIGAR,
)
from syclade.kernels.pileup.tag_arguments import FOUND, NO_TAG, TAGS, WRONG_TAG

__all__ = ["RAW_BYTES", "ReadTags", "Reads", "RecordParser", "TagReader", "error_of_read"]


RAW_BYTES = 1 << 22
"""Bytes of raw records that are taken apart at a time."""

_PROBLEMS = {
    NO_QUALITIES: (
        "has no base qualities",
        f"align FASTQ, not FASTA; or give a quality for all of them: {call_flag('assume_quality')} 30",
    ),
    UNSORTED: ("begins before the one before it", "sort the reads by position: samtools sort"),
    OTHER_CONTIG: ("is of another contig than the index says", "make the index again: samtools index"),
    WRONG_CIGAR: ("has a CIGAR that does not fit its bases", "the file is damaged: samtools quickcheck"),
    BEYOND: ("ends beyond the end of its contig", "give the reference that the reads were aligned to"),
    DAMAGED: ("is damaged", "the file is damaged: samtools quickcheck"),
}


@dataclass
class Reads:
    """Reads in the order of the file.

    Attributes:
        raw: uint8, the records.
        fields: int64, (reads, numbers of `kernels.pileup.arguments.FIELDS`).
        bases: uint8, (letters,): 0 to 3 are A, C, G, T; 4 is any other.
        qualities: uint8, (letters,), Phred.
        consumed: bytes of `raw` that belong to records that were seen.
        stopped: whether a record was met that begins at `stop` or later.
        previous: position of the last record.
    """

    raw: NDArray[np.uint8]
    fields: NDArray[np.int64]
    bases: NDArray[np.uint8]
    qualities: NDArray[np.uint8]
    consumed: int
    stopped: bool
    previous: int

    def __len__(self) -> int:
        return len(self.fields)

    def field(self, name: str) -> NDArray[np.int64]:
        """Return one number of every read."""
        return self.fields[:, FIELDS.index(name)]


class RecordParser:
    """Parses records by compiled code, with buffers that are reused.

    Args:
        compiled: the kernel of records.
        options: which reads count.
        widest: largest half width of a band; reads that need a wider one get no base alignment quality.
    """

    def __init__(self, compiled: HostKernel, options: CallOptions, widest: int) -> None:
        self._compiled, self._widest = compiled, widest
        self._options = options
        self._grow(RAW_BYTES)

    def _grow(self, size: int) -> None:
        self._fields = np.zeros((size // 64 + 1, len(FIELDS)), dtype=np.int64)
        self._bases = np.zeros(size, dtype=np.uint8)
        self._qualities = np.zeros(size, dtype=np.uint8)

    def take(self, path: Path, raw: bytes, contig: tuple[int, str, int], stop: int, previous: int) -> Reads:
        """Return the reads of whole records.

        The arrays are valid until the next call.

        Args:
            path: the file, for messages.
            raw: the records; the last one need not be whole.
            contig: number, name and length of the contig.
            stop: records that begin here or later are left.
            previous: position of the last record before these.

        Raises:
            ReadsError: a record cannot be used.
        """
        if len(raw) > len(self._bases):
            self._grow(len(raw))
        letters = np.frombuffer(raw, dtype=np.uint8)
        options = self._options
        limits = dict(
            bytes=len(raw),
            contig=contig[0],
            contig_length=contig[2],
            stop=stop,
            least_mapping=options.min_mq,
            most_mapping=options.max_mq,
            orphans=options.use_orphan,
            as_lofreq=options.compat,
            reads=len(self._fields),
            letters=len(self._bases),
            widest=self._widest,
            previous=previous,
            illumina=31 if options.illumina_1_3 else 0,
        )
        outcome = np.zeros(len(OUTCOME), dtype=np.int64)
        arrays: dict[str, Array] = {
            "raw": letters,
            "limits": np.array([limits[name] for name in LIMITS], dtype=np.int64),
            "outcome": outcome,
            "fields": self._fields,
            "bases": self._bases,
            "qualities": self._qualities,
        }
        self._compiled(arrays)
        found = dict(zip(OUTCOME, outcome.tolist(), strict=True))
        if found["problem"]:
            raise error_of_read(path, raw, found["place"], contig[1], *_PROBLEMS[found["problem"]])
        return Reads(
            letters,
            self._fields[: found["reads"]],
            self._bases[: found["letters"]],
            self._qualities[: found["letters"]],
            found["consumed"],
            bool(found["stopped"]),
            found["previous"],
        )


def error_of_read(path: Path, raw: bytes, at: int, contig: str, what: str, hint: str) -> ReadsError:
    """Return the error for a record: its name and position, what is wrong, and what to do.

    Args:
        path: the file.
        raw: raw records.
        at: where the record begins.
        contig: name of the contig.
        what: what is wrong.
        hint: what to do.
    """
    position = int.from_bytes(raw[at + 8 : at + 12], "little", signed=True) + 1
    name = raw[at + 36 : at + 36 + max(raw[at + 12] - 1, 0)].decode("ascii", "replace")
    return ReadsError(f"read {name!r} at {contig}:{position} {what}", path=path, hint=hint)


class ReadTags:
    """Where the tags of reads are.

    Attributes:
        at: int64, (reads, numbers of `TAGS`): where each tag's letters begin in the raw records; NO_TAG if
            there is none, or it is not used.
    """

    def __init__(self, at: NDArray[np.int64]) -> None:
        self.at = at

    def has(self, tag: str) -> NDArray[np.bool_]:
        """Return which reads have a tag, bool, (reads,)."""
        found: NDArray[np.bool_] = self.at[:, TAGS.index(tag)] >= 0
        return found


class TagReader:
    """Finds tags by compiled code, which is loaded when a file first has one of them.

    Args:
        options: which tags are used; others are passed over.
    """

    def __init__(self, options: CallOptions) -> None:
        wanted = {
            "BI": options.call_indels or options.compat,
            "BD": options.call_indels or options.compat,
            "ai": options.call_indels and not options.no_idaq,
            "ad": options.call_indels and not options.no_idaq,
            "lb": not options.no_baq and not options.del_baq,
        }
        self._wanted = [tag for tag in TAGS if wanted[tag]]
        self._tags: HostKernel | None = None
        self._stored: HostKernel | None = None

    def find(self, path: Path, raw: bytes, reads: Reads, contig: str) -> ReadTags:
        """Return where the tags are that are used.

        Args:
            path: the file, for messages.
            raw: the raw records.
            reads: the reads.
            contig: name of the contig, for messages.

        Raises:
            ReadsError: such a tag has another number of letters than there are bases.
        """
        at = np.full((len(reads), len(TAGS)), NO_TAG, dtype=np.int64)
        if not any(f"{tag}Z".encode() in raw for tag in self._wanted):
            return ReadTags(at)
        self._tags = self._tags or load_host_kernel("tags")
        found = np.zeros(len(FOUND), dtype=np.int64)
        arrays: dict[str, Array] = {
            "raw": reads.raw,
            "fields": reads.fields,
            "reads": np.array([len(reads)]),
            "found": found,
            "tags": at,
        }
        self._tags(arrays)
        damaged, read = found.tolist()
        if damaged:
            record = int(reads.field("record")[read])
            hint = "the file is damaged: samtools quickcheck"
            raise error_of_read(path, raw, record, contig, "has damaged tags", hint)
        for number, tag in enumerate(TAGS):
            if tag not in self._wanted:
                at[:, number] = NO_TAG
                continue
            for read in np.flatnonzero(at[:, number] == WRONG_TAG)[:1].tolist():
                record = int(reads.field("record")[read])
                what = f"has a tag {tag} with another number of letters than there are bases"
                hint = "remove the tag (samtools view -x), or write it again with the program that made it"
                raise error_of_read(path, raw, record, contig, what, hint)
        return ReadTags(at)

    def use_stored(
        self, reads: Reads, tags: ReadTags, states: NDArray[np.int32], confidence: NDArray[np.uint8]
    ) -> None:
        """Use stored BAQ as if it had just been computed, for the reads that have it."""
        self._stored = self._stored or load_host_kernel("stored")
        self._stored(
            {
                "raw": reads.raw,
                "fields": reads.fields,
                "reads": np.array([len(reads)]),
                "tags": tags.at,
                "states": states,
                "confidence": confidence,
            }
        )
