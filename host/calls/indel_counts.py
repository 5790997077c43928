"""Counts of reads with and without an indel in the columns of a window, by their qualities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import GapQuality
from syclade.host.calls.kernels import HostKernel, load_host_kernel
from syclade.host.calls.p_values import DINDEL, indel_qualities
from syclade.host.calls.record_parser import Reads, ReadTags
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.values import Array
from syclade.kernels.pileup.indel_arguments import (
    GAP,
    INDEL_RULES,
    NO_GAP_ALIGNMENT,
    TO_COMPUTE,
)

__all__ = [
    "LEAST_INDEL_QUALITY",
    "Indel",
    "IndelCounter",
    "IndelCounts",
    "Qualities",
    "consensus_indels",
    "grow_table",
]


LEAST_INDEL_QUALITY = 10
"""Reads whose indel qualities after a base are lower do not count there."""

_FIRST_STRIDE = 16
_MOST_ROWS = 1 << 16
"""Rows of gaps that are kept before equal ones are counted."""


class Indel(NamedTuple):
    """An insertion or a deletion.

    Attributes:
        column: the base before it.
        length: number of inserted bases; negative, of deleted ones.
        inserted: inserted bases by number; empty for a deletion.
    """

    column: int
    length: int
    inserted: bytes


@dataclass(frozen=True)
class Qualities:
    """Reads of the same qualities, one entry for each set of them.

    Attributes:
        insertion, deletion: int64, (entries,): Phred qualities of indels.
        mapping: int64, (entries,): Phred quality; 255 is unknown.
        alignment: int64, (entries,): Phred quality of the gap's alignment; -1 is unknown.
        reverse: int64, (entries,): strand.
        count: int64, (entries,): number of reads.
    """

    insertion: NDArray[np.int64]
    deletion: NDArray[np.int64]
    mapping: NDArray[np.int64]
    alignment: NDArray[np.int64]
    reverse: NDArray[np.int64]
    count: NDArray[np.int64]

    def strands(self) -> tuple[int, int]:
        """Return the number of reads on the forward and on the reverse strand."""
        reverse = int(self.count[self.reverse == 1].sum())
        return int(self.count.sum()) - reverse, reverse


@dataclass(frozen=True)
class IndelCounts:
    """Reads of the columns of a window, with and without an indel after the column.

    Attributes:
        begin: position of the first column, from 0.
        depth: int32, (columns,): reads, deletions included.
        tails: int32, (columns,): reads that end with a base of the column.
        starts: int64, (columns + 1,): where the entries of `without` of each column begin.
        left_out: number of indels in homopolymers that are left out for their quality.
        without: reads without an indel, in the order of columns and keys.
        indels: reads of each indel, in the order of columns; within one, insertions first, and each kind by
            its first read in the file.
    """

    begin: int
    depth: NDArray[np.int32]
    tails: NDArray[np.int32]
    starts: NDArray[np.int64]
    left_out: int
    without: Qualities
    indels: Mapping[Indel, Qualities]

    @cached_property
    def by_column(self) -> Mapping[int, tuple[Indel, ...]]:
        """The indels of each column that has some, in their order."""
        groups = groupby(self.indels, key=lambda one: one.column)
        return {column: tuple(indels) for column, indels in groups}

    def without_at(self, column: int) -> Qualities:
        """Return the reads of a column without an indel."""
        part = slice(int(self.starts[column]), int(self.starts[column + 1]))
        one = self.without
        return Qualities(
            one.insertion[part],
            one.deletion[part],
            one.mapping[part],
            one.alignment[part],
            one.reverse[part],
            one.count[part],
        )


class IndelCounter:
    """Counts the reads of a window.

    Args:
        compiled: the kernel that counts.
        quality: computes alignment qualities of gaps.
        options: which reads count.
        begin, end: the window, from 0, without `end`.
    """

    def __init__(
        self, compiled: HostKernel, quality: GapQuality, options: CallOptions, begin: int, end: int
    ) -> None:
        self._compiled, self._quality, self._options = compiled, quality, options
        self._begin, self._number = begin, end - begin
        self._table = np.zeros((self._number, _FIRST_STRIDE, 2), dtype=np.uint32)
        self._filled = np.zeros(self._number, dtype=np.int32)
        self._depth = np.zeros(self._number, dtype=np.int32)
        self._tails = np.zeros(self._number, dtype=np.int32)
        self._ids: dict[Indel, int] = {}
        self._left_out: set[Indel] = set()
        self._rows: list[NDArray[np.int64]] = []
        self._most = _MOST_ROWS

    def add(self, reads: Reads, tags: ReadTags, reference: NDArray[np.uint8]) -> None:
        """Count reads.

        Args:
            reads: the reads.
            tags: their tags.
            reference: uint8, bases of the whole contig, by number.

        Raises:
            ReadsError: a column has more different qualities than there is space for.
            DeviceError: a kernel cannot be compiled.
        """
        if not len(reads):
            return
        origin = int(reads.field("position").min())
        last = min(len(reference), int(reads.field("end").max()) + 1)
        longer = DINDEL[-1] if self._options.keep_homopolymers else 0
        arrays: dict[str, Array] = {
            "raw": reads.raw,
            "fields": reads.fields,
            "bases": reads.bases,
            "tags": tags.at,
            "reference": reference,
            "by_position": indel_qualities(reference, origin, last, longer),
            "next": np.zeros(2, dtype=np.int64),
            "gaps": np.empty((int(reads.field("operations").sum()) + 1, len(GAP)), dtype=np.int64),
            "filled": self._filled,
            "depth": self._depth,
            "tails": self._tails,
        }
        first = 0
        while first < len(reads):
            arrays |= {"rules": self._rules(first, len(reads), origin), "table": self._table}
            self._compiled(arrays)
            first, found = arrays["next"].tolist()
            self._list(
                reads, self._counted(reads, arrays["gaps"][:found], arrays["by_position"], origin), reference
            )
            if first < len(reads) or 4 * int(self._filled.max()) >= 3 * self._table.shape[1]:
                self._table = grow_table(self._table, self._begin)

    def counts(self) -> IndelCounts:
        """Return the counts so far."""
        stride = self._table.shape[1]
        table = self._table.reshape(-1, 2)
        places = np.flatnonzero(table[:, 0])
        column, key = places // stride, table[places, 0].astype(np.int64) - 1
        order = np.lexsort((key, column))
        order = order[np.minimum(key[order] >> 16, key[order] >> 9 & 127) >= self._least]
        column, key = column[order], key[order]
        without = Qualities(
            key >> 16,
            key >> 9 & 127,
            key >> 1 & 255,
            np.full(len(key), NO_GAP_ALIGNMENT),
            key & 1,
            table[places, 1][order].astype(np.int64),
        )
        starts = np.searchsorted(column, np.arange(self._number + 1))
        return IndelCounts(
            self._begin, self._depth, self._tails, starts, len(self._left_out), without, self._indels()
        )

    @property
    def _least(self) -> int:
        """Least quality of an indel that counts."""
        return 0 if self._options.compat else LEAST_INDEL_QUALITY

    def _counted(
        self, reads: Reads, gaps: NDArray[np.int64], by_position: NDArray[np.uint8], origin: int
    ) -> NDArray[np.int64]:
        """Return the gaps that count, and note those in homopolymers that do not."""
        quality = np.minimum(gaps[:, GAP.index("insertion")], gaps[:, GAP.index("deletion")])
        low = quality < self._least
        if not low.any():
            return gaps.copy()
        lost = gaps[low]
        place = lost[:, GAP.index("column")] + self._begin - origin
        in_homopolymer = (by_position[place] < self._least) & (place < len(by_position) - 1)
        self._left_out.update(_names(reads, lost[in_homopolymer]))
        return gaps[~low]

    def _list(self, reads: Reads, gaps: NDArray[np.int64], reference: NDArray[np.uint8]) -> None:
        """Add the gaps of reads."""
        if not len(gaps):
            return
        alignment = gaps[:, GAP.index("alignment")]
        unknown = alignment == TO_COMPUTE
        if unknown.any():
            alignment[unknown] = self._quality.compute(reads, gaps[unknown], reference)
        ids = np.array([self._ids.setdefault(name, len(self._ids)) for name in _names(reads, gaps)])
        columns = [gaps[:, GAP.index(name)] for name in _QUALITIES]
        self._rows.append(np.stack([ids, *columns, np.ones(len(gaps), dtype=np.int64)], axis=1))
        if sum(map(len, self._rows)) > self._most:
            self._rows = [_counted(self._rows)]
            self._most = max(_MOST_ROWS, 2 * len(self._rows[0]))

    def _indels(self) -> dict[Indel, Qualities]:
        rows = _counted(self._rows)
        names = list(self._ids)
        starts = np.searchsorted(rows[:, 0], np.arange(len(names) + 1))
        order = sorted(range(len(names)), key=lambda at: (names[at].column, names[at].length < 0, at))
        return {names[at]: Qualities(*rows[starts[at] : starts[at + 1], 1:].T) for at in order}

    def _rules(self, first: int, reads: int, origin: int) -> NDArray[np.int64]:
        options = self._options
        rules = dict(
            first=first,
            reads=reads,
            begin=self._begin,
            columns=self._number,
            stride=self._table.shape[1],
            deepest=options.most_in_column,
            skipped=options.compat,
            origin=origin,
            computed=options.call_indels,
            aligned=options.call_indels and not options.no_idaq,
            as_lofreq=options.compat,
            least=0,  # `_counted` and `counts` leave out what has a lower quality, so that it can be counted
        )
        return np.array([rules[name] for name in INDEL_RULES], dtype=np.int64)


_QUALITIES = ("insertion", "deletion", "mapping", "alignment", "reverse")


def _names(reads: Reads, gaps: NDArray[np.int64]) -> Iterator[Indel]:
    """Yield the indel of each gap."""
    first, length = gaps[:, GAP.index("base")].tolist(), gaps[:, GAP.index("length")].tolist()
    inserted = (reads.bases[at : at + max(size, 0)].tobytes() for at, size in zip(first, length, strict=True))
    return map(Indel, gaps[:, GAP.index("column")].tolist(), length, inserted)


def _counted(rows: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return rows in order, with the counts of equal ones added; the last number of a row is its count."""
    if not rows:
        return np.zeros((0, len(_QUALITIES) + 2), dtype=np.int64)
    every = np.concatenate(rows)
    distinct, place = np.unique(every[:, :-1], axis=0, return_inverse=True)
    count = np.bincount(place.ravel(), every[:, -1], len(distinct)).astype(np.int64)
    return np.column_stack([distinct, count])


def consensus_indels(counts: IndelCounts) -> NDArray[np.bool_]:
    """Return where an indel has a larger sum of qualities than all reads without its kind, bool, (columns,).

    LoFreq does not test the bases of such columns.
    """
    found = np.zeros(len(counts.depth), dtype=bool)
    for column, indels in counts.by_column.items():
        for inserted in (True, False):
            mine = [counts.indels[one] for one in indels if (one.length > 0) == inserted]
            others = [counts.indels[one] for one in indels if (one.length > 0) != inserted]
            against = sum(_sum_of(one, inserted) for one in (counts.without_at(column), *others))
            found[column] |= max((_sum_of(one, inserted) for one in mine), default=0) > against
    return found


def _sum_of(reads: Qualities, inserted: bool) -> int:
    quality = reads.insertion if inserted else reads.deletion
    return int((quality * reads.count).sum())


_LAST_STRIDE = 1 << 17


def grow_table(table: NDArray[np.uint32], begin: int) -> NDArray[np.uint32]:
    """Return a table with the same keys and counts, and twice the space.

    Args:
        table: uint32, (columns, space for keys, 2): keys plus 1, and counts.
        begin: position of the first column, from 0, for messages.

    Raises:
        ReadsError: a column has more different keys than a table may hold.
    """
    columns, stride, _ = table.shape
    if 2 * stride > _LAST_STRIDE:
        raise ReadsError(f"a column after position {begin} has more than {_LAST_STRIDE} different qualities")
    larger = np.zeros((columns, 2 * stride, 2), dtype=np.uint32)
    load_host_kernel("growth")(
        {
            "columns": np.array([columns]),
            "old_stride": np.array([stride]),
            "stride": np.array([2 * stride]),
            "old": table,
            "table": larger,
        }
    )
    return larger
