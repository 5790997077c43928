"""Qualities that reads have stored in tags: of indels (BI, BD), of gaps' alignments (ai, ad), BAQ (lb)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.compiled import Compiled, compiled
from syclade.host.calls.taking import Reads, error_of_read
from syclade.kernels.pileup.tag_arguments import (
    DAMAGED_TAGS,
    FOUND,
    TAGS,
    WRONG_TAG,
)

__all__ = ["ReadTags", "TagReader"]

_REPAIR = "the file is damaged: samtools quickcheck"


class ReadTags:
    """Where the tags of reads are.

    Attributes:
        at: int64, (reads, numbers of `TAGS`): where each tag's letters begin in the raw records, or -1.
    """

    def __init__(self, at: NDArray[np.int64]) -> None:
        self.at = at

    def has(self, tag: str) -> NDArray[np.bool_]:
        """Return which reads have a tag, bool, (reads,)."""
        found: NDArray[np.bool_] = self.at[:, TAGS.index(tag)] >= 0
        return found


class TagReader:
    """Finds tags by compiled code, which is loaded when a file first has one of them."""

    def __init__(self) -> None:
        self._tags: Compiled | None = None
        self._stored: Compiled | None = None

    def find(self, path: Path, raw: bytes, reads: Reads, contig: str) -> ReadTags:
        """Return where the tags are.

        Args:
            path: the file, for messages.
            raw: the raw records.
            reads: the reads.
            contig: name of the contig, for messages.

        Raises:
            ReadsError: a tag is not text, or has another number of letters than there are bases.
        """
        at = np.full((len(reads), len(TAGS)), -1, dtype=np.int64)
        if not any(f"{tag}Z".encode() in raw for tag in TAGS):
            return ReadTags(at)
        if self._tags is None:
            self._tags = compiled("tags")
        found = np.zeros(len(FOUND), dtype=np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "raw": reads.raw,
            "fields": reads.fields,
            "reads": np.array([len(reads)]),
            "found": found,
            "tags": at,
        }
        self._tags(arrays)
        problem, read, tag = found.tolist()
        if problem:
            record = int(reads.field("record")[read])
            what, hint = _PROBLEMS[problem]
            raise error_of_read(path, raw, record, contig, what.format(tag=TAGS[tag]), hint)
        return ReadTags(at)

    def use_stored(
        self, reads: Reads, tags: ReadTags, states: NDArray[np.int32], confidence: NDArray[np.uint8]
    ) -> None:
        """Write stored BAQ to the states and qualities of the reads that have some, as if computed."""
        if self._stored is None:
            self._stored = compiled("stored")
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


_PROBLEMS = {
    DAMAGED_TAGS: ("has damaged tags", _REPAIR),
    WRONG_TAG: (
        "has a tag {tag} that is not text with one letter for each base",
        "remove the tag (samtools view -x), or write it anew with the program that made it",
    ),
}
