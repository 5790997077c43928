"""Counts of bases in the columns of a window, by base, strand, mapping, base and alignment quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.indel_counts import IndelCounts
from syclade.host.calls.kernels import HostKernel, grow_table
from syclade.host.calls.options import CallOptions
from syclade.host.calls.record_parser import Reads
from syclade.kernels.pileup.arguments import NO_ALIGNMENT, RULES

__all__ = ["Counter", "Counts"]

LEAST_QUALITY = 3
"""Bases of lower quality count in the depth only."""

_FIRST_STRIDE = 256


@dataclass(frozen=True)
class Counts:
    """Bases of the columns of a window. Entries are in the order of columns and keys.

    Attributes:
        begin: position of the first column, from 0.
        depth: int32, (columns,): reads, deletions included.
        strands: int32, (columns, 5, 2): bases of quality 3 and more, by base (A, C, G, T, other) and strand
            (forward, reverse).
        column: int32, (entries,): column of each entry.
        base, reverse: uint8, (entries,): base, 0 to 3, and strand.
        mapping, quality, alignment: uint8, (entries,): Phred qualities; mapping 255 and alignment 127 are
            unknown.
        count: int64, (entries,): number of bases.
        indels: reads with and without indels; None if they are not counted.
    """

    begin: int
    depth: NDArray[np.int32]
    strands: NDArray[np.int32]
    column: NDArray[np.int32]
    base: NDArray[np.uint8]
    reverse: NDArray[np.uint8]
    mapping: NDArray[np.uint8]
    quality: NDArray[np.uint8]
    alignment: NDArray[np.uint8]
    count: NDArray[np.int64]
    indels: IndelCounts | None = None


class Counter:
    """Counts the bases of reads in a window.

    Args:
        columns: the kernel that counts.
        options: which bases count.
        begin, end: the window, from 0, without `end`.
    """

    def __init__(self, columns: HostKernel, options: CallOptions, begin: int, end: int) -> None:
        self._columns, self._options = columns, options
        self._begin, self._number = begin, end - begin
        self._table = np.zeros((self._number, 0, 2), dtype=np.uint32)
        self._filled = np.zeros(self._number, dtype=np.int32)
        self._depth = np.zeros(self._number, dtype=np.int32)
        self._strands = np.zeros((self._number, 5, 2), dtype=np.int32)

    def add(
        self,
        reads: Reads,
        states: NDArray[np.int32],
        confidence: NDArray[np.uint8],
        stored: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count reads.

        Args:
            reads: the reads.
            states, confidence: of their letters, by `AlignmentQuality`; empty without alignment qualities.
            stored: bool, (reads,): reads whose qualities were stored in the file, and are not extended; None
                for none.

        Raises:
            ReadsError: a column has more different qualities than there is space for.
        """
        if self._table.shape[1] == 0:  # windows without reads need none
            self._table = np.zeros((self._number, _FIRST_STRIDE, 2), dtype=np.uint32)
        longest = int(reads.field("length").max(initial=0))
        arrays: dict[str, NDArray[Any]] = {
            "raw": reads.raw,
            "fields": reads.fields,
            "bases": reads.bases,
            "qualities": reads.qualities,
            "states": states,
            "confidence": confidence,
            "next": np.zeros(1, dtype=np.int64),
            "filled": self._filled,
            "depth": self._depth,
            "strands": self._strands,
            "aligned": np.zeros(longest, dtype=np.uint8),
        }
        for first, end, extended in _runs(len(reads), stored):
            self._count(arrays, first, end, extended and not self._options.no_ext_baq)

    def _count(self, arrays: dict[str, NDArray[Any]], first: int, end: int, extended: bool) -> None:
        """Count the reads from `first` on, without `end`."""
        aligned = len(arrays["states"]) > 0
        while first < end:
            arrays |= {"rules": self._rules(first, end, aligned, extended), "table": self._table}
            self._columns(arrays)
            first = int(arrays["next"][0])
            if first < end or 4 * int(self._filled.max()) >= 3 * self._table.shape[1]:
                self._table = grow_table(self._table, self._begin)

    def counts(self) -> Counts:
        """Return what has been counted."""
        used = np.flatnonzero(self._filled)
        stride = self._table.shape[1]
        table = (self._table if len(used) == self._number else self._table[used]).reshape(-1, 2)
        places = np.flatnonzero(table[:, 0])
        entries, column = table[places], used[places // max(1, stride)]
        key = entries[:, 0].astype(np.int64) - 1
        order = np.lexsort((key, column))
        column, key = column[order].astype(np.int32), key[order]
        return Counts(
            self._begin,
            self._depth,
            self._strands,
            column,
            (key >> 23).astype(np.uint8),
            (key >> 22 & 1).astype(np.uint8),
            (key >> 14 & 255).astype(np.uint8),
            (key >> 7 & 127).astype(np.uint8),
            (key & 127).astype(np.uint8),
            entries[order, 1].astype(np.int64),
        )

    def _rules(self, first: int, reads: int, aligned: bool, extended: bool) -> NDArray[np.int64]:
        rules = dict(
            first=first,
            reads=reads,
            begin=self._begin,
            columns=self._number,
            stride=self._table.shape[1],
            least=LEAST_QUALITY,
            deepest=self._options.most_in_column,
            aligned=aligned,
            extended=extended,
            skipped=self._options.compat,
        )
        return np.array([rules[name] for name in RULES], dtype=np.int64)


def _runs(reads: int, stored: NDArray[np.bool_] | None) -> Iterator[tuple[int, int, bool]]:
    """Yield runs of reads with and without stored qualities: first, end, whether they are extended."""
    if stored is None or not stored.any():
        yield 0, reads, True
        return
    bounds = [0, *(np.flatnonzero(stored[1:] != stored[:-1]) + 1).tolist(), reads]
    for first, end in pairwise(bounds):
        yield first, end, not stored[first]


assert NO_ALIGNMENT == 127
