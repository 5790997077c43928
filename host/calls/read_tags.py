"""Qualities that reads have stored in tags: of indels (BI, BD), of gaps' alignments (ai, ad), BAQ (lb)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.host_kernels import Compiled, compiled
from syclade.host.calls.options import CallOptions
from syclade.host.calls.record_parser import Reads, error_of_read
from syclade.kernels.pileup.tag_arguments import FOUND, NO_TAG, TAGS, WRONG_TAG

__all__ = ["ReadTags", "TagReader"]


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
        self._tags: Compiled | None = None
        self._stored: Compiled | None = None

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
        self._tags = self._tags or compiled("tags")
        found = np.zeros(len(FOUND), dtype=np.int64)
        arrays: dict[str, NDArray[Any]] = {
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
                hint = "remove the tag (samtools view -x), or write it anew with the program that made it"
                raise error_of_read(path, raw, record, contig, what, hint)
        return ReadTags(at)

    def use_stored(
        self, reads: Reads, tags: ReadTags, states: NDArray[np.int32], confidence: NDArray[np.uint8]
    ) -> None:
        """Write stored BAQ to the states and qualities of the reads that have some, as if computed."""
        self._stored = self._stored or compiled("stored")
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
