"""Reads taken from raw records of BAM: those that count, with their bases, qualities and windows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.host_kernels import Compiled
from syclade.host.calls.options import CallOptions
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import call_flag
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

__all__ = ["RAW_BYTES", "Reads", "Taker", "error_of_read"]

RAW_BYTES = 1 << 22
"""Bytes of raw records that are taken apart at a time."""

_PROBLEMS = {
    NO_QUALITIES: (
        "has no base qualities",
        f"align FASTQ, not FASTA; or give a quality for all of them: {call_flag('assume_quality')} 30",
    ),
    UNSORTED: ("begins before the one before it", "sort the reads by position: samtools sort"),
    OTHER_CONTIG: ("is of another contig than the index says", "make the index anew: samtools index"),
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


class Taker:
    """Takes reads apart by compiled code, with buffers that are used again.

    Args:
        compiled: the kernel of records.
        options: which reads count.
        widest: largest half width of a band; reads that need a wider one get no base alignment quality.
    """

    def __init__(self, compiled: Compiled, options: CallOptions, widest: int) -> None:
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
        arrays: dict[str, NDArray[Any]] = {
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
