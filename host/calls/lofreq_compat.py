"""Results that LoFreq 2.1.5 computes in a way of its own, repeated for --compat.

Each function says what differs from the definition. Sources: LoFreq 2.1.5 (`bam_md_ext.c`,
`lofreq_filter.c`), and htslib's exact test and pileup, which it uses.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.p_values import ONE_STRAND
from syclade.host.calls.record_parser import Reads

__all__ = [
    "DepthLimit",
    "fisher_p",
    "is_one_sided",
    "log_p_of",
    "phred_of_log",
    "place_states",
    "strand_bias",
]

_MATCHES, _SKIP, _OF_READ, _OF_REFERENCE = (0, 7, 8), 3, (0, 1, 4, 7, 8), (0, 2, 3, 7, 8)
"""CIGAR operations in BAM: those that use bases of the read, and those that use positions."""

_SAME = 1e-8
"""Tables whose probabilities differ relatively by less count as equally likely."""

_LEAST_LOG = -11355.137
"""ln of the smallest positive number of LoFreq's type, long double: no quality exceeds 49314."""

_UNDERFLOW = -708.3964185322641
"""ln of the smallest normal float64: LoFreq's sum of a tail underflows where terms differ by more."""

_EPSILON_LOG = math.log(2.0**-52)

_NO_BIAS_VALUE = 2147483647
"""LoFreq's strand bias where there is no value."""


def log_p_of(log_p: float, highest: float) -> float:
    """Return ln of the p-value that LoFreq computes for an alternative base.

    It takes the tails of less frequent alternatives from the table of the most frequent one. Where ln p
    differs by more than the exponent of float64 can hold, a flag of underflow makes LoFreq replace the
    p-value: a small one by the smallest positive number, a larger one by the largest, so that the allele is
    lost.

    Args:
        log_p: ln of the test's p-value.
        highest: that of the column's most frequent alternative base.
    """
    if highest - log_p < _UNDERFLOW:
        return _LEAST_LOG if log_p < _EPSILON_LOG else math.inf
    return max(log_p, _LEAST_LOG)


def phred_of_log(log_p: float) -> int:
    """Return the Phred quality of ln p, cut to an integer, in more digits than those of float64."""
    return int(-10 / np.log(np.longdouble(10)) * np.longdouble(log_p))


def place_states(reads: Reads, states: NDArray[np.int32], *, extended: bool) -> None:
    """Change the most likely states of bases so that they agree with the CIGAR where LoFreq says so.

    LoFreq's places do not advance over skipped positions (N), so bases behind one seem to be elsewhere. And
    it does not compare the places at all where qualities are not extended.

    Args:
        reads: the reads.
        states: int32, (letters,): four times the place in the read's window, plus 1 for an insertion.
        extended: whether the qualities are extended.
    """
    owner, operation, length = _operations(reads)
    if extended and not (operation == _SKIP).any():
        return
    used = np.where(np.isin(operation, _OF_READ), length, 0)
    if extended:
        states += np.repeat(_before(np.where(operation == _SKIP, length, 0), owner), used) << 2
        return
    begin = reads.field("position") - reads.field("window")
    place = begin[owner] + _before(np.where(np.isin(operation, _OF_REFERENCE), length, 0), owner)
    in_run = np.arange(used.sum()) - np.repeat(used.cumsum() - used, used)
    paired = np.repeat(np.isin(operation, _MATCHES), used)
    states[paired] = ((np.repeat(place, used) + in_run) << 2)[paired]


def _operations(reads: Reads) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the read, the code and the length of each operation of all CIGARs."""
    number = reads.field("operations")
    owner = np.repeat(np.arange(len(reads)), number)
    in_read = np.arange(len(owner)) - np.repeat(number.cumsum() - number, number)
    at = reads.field("cigar")[owner] + 4 * in_read
    code = sum(reads.raw[at + byte].astype(np.int64) << 8 * byte for byte in range(4))
    code = np.asarray(code, dtype=np.int64)
    return owner, code & 15, code >> 4


def _before(length: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the lengths before each operation in its read."""
    total = length.cumsum() - length
    first = np.searchsorted(owner, owner)
    return total - total[first]


class DepthLimit:
    """Limit of htslib's pileup: it leaves out a read if too many are kept, and another begins where it does.

    So the depth of a column may exceed the limit by the number of positions of a read.

    Args:
        most: the limit.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._ends: list[int] = []
        self._last = -1

    def accepted(self, position: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the next reads of a contig are kept, bool, (reads,).

        Args:
            position, end: where they begin, in order, and the position after their last one.
        """
        chosen = np.ones(len(position), dtype=bool)
        if len(self._ends) + len(position) < self._most:
            self._last = max([self._last, *position[-1:].tolist()])
            self._ends = [one for one in (*self._ends, *end.tolist()) if one >= self._last]
            heapq.heapify(self._ends)
            return chosen
        for at, (first, last) in enumerate(zip(position.tolist(), end.tolist(), strict=True)):
            if first != self._last:
                self._last = first
                while self._ends and self._ends[0] < first:
                    heapq.heappop(self._ends)
            elif len(self._ends) >= self._most:
                chosen[at] = False
                continue
            heapq.heappush(self._ends, last)
        return chosen


def strand_bias(*dp4: int) -> int:
    """Return the Phred-scaled p-value of strand bias of four counts.

    There is none where the p-value is 0, and where only one strand and no reference base is left.
    """
    if dp4[0] + dp4[1] == 0 and 0 in dp4[2:]:
        return _NO_BIAS_VALUE
    p = fisher_p(*dp4)
    return int(-10 * np.log10(np.longdouble(p))) if p > 0 else _NO_BIAS_VALUE


def fisher_p(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p-value of Fisher's exact test as htslib computes it.

    The probability of a table follows from that of the one before it, from both ends inwards, and is
    computed again at each multiple of 11. So where the tables at an end have probabilities below 10^-308,
    those that follow count as 0 until the next multiple, and the p-value may be too small, or 0.
    """
    table = _Margins(a + b, a + c, a + b + c + d)
    lowest, highest = max(0, -table.rest), min(table.row, table.column)
    if lowest == highest:
        return 1.0
    observed = table.probability(a)
    return min(1.0, sum(_tail(table, end, step, observed) for end, step in ((lowest, 1), (highest, -1))))


class _Margins(NamedTuple):
    """Margins of a table [[x, row - x], [column - x, rest + x]]."""

    row: int
    column: int
    total: int

    @property
    def rest(self) -> int:
        """The last number of the table with x = 0."""
        return self.total - self.row - self.column

    def probability(self, x: int) -> float:
        """Return the probability of the table with x."""
        ways = _log_choose(self.row, x) + _log_choose(self.total - self.row, self.column - x)
        return math.exp(ways - _log_choose(self.total, self.column))

    def after(self, x: int, step: int, p: float) -> float:
        """Return the probability of the table with x, given that of the one a step before it."""
        last = x - step
        if step > 0:
            return p * ((self.row - last) / x * (self.column - last) / (x + self.rest))
        return p * (last / (self.row - x) * (last + self.rest) / (self.column - x))


def _tail(table: _Margins, end: int, step: int, observed: float) -> float:
    """Return the sum of the probabilities from one end on, as long as they do not exceed the observed one."""
    x, p, total = end, table.probability(end), 0.0
    while p < (1 - _SAME) * observed:
        total += p
        x += step
        p = table.after(x, step, p) if x % 11 and x + table.rest else table.probability(x)
    return total + p if p < (1 + _SAME) * observed else total


def _log_choose(n: int, k: int) -> float:
    from scipy.special import gammaln

    return 0.0 if k in (0, n) else float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def is_one_sided(forward: int, reverse: int) -> bool:
    """Return whether an alternative's bases are mostly on one strand, exactly 85 % included.

    LoFreq compares their part in single precision, where it is a little above 0.85, with 0.85 in double
    precision.
    """
    most, total = max(forward, reverse), forward + reverse
    return total > 0 and float(np.float32(most) / np.float32(total)) > float(ONE_STRAND)
