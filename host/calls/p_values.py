"""Error probabilities of bases and indels, and the p-values that follow: exact tails, and strand bias.

With PM, PA and PB the error probabilities of mapping, alignment and base call, a base is wrong with
probability PJ = PM + (1 − PM) PA + (1 − PM)(1 − PA) PB. Source: Wilm et al., "LoFreq", Nucleic Acids Res. 40
(2012). The quality of an indel follows from the homopolymer beside it.

A bound rules out most tests without exact tails.
Strand bias is Fisher's exact test on strands of reference and alternative, corrected for many tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.kernels import Place, here
from syclade.host.calls.tails import Columns, log_tails
from syclade.host.device.work import WorkDone, merged_work
from syclade.kernels.pileup.arguments import NO_ALIGNMENT

if TYPE_CHECKING:
    from syclade.host.calls.counts import ColumnsToTest

__all__ = [
    "ALPHA",
    "DINDEL",
    "LEAST_ERROR",
    "ONE_STRAND",
    "UNKNOWN",
    "ExactTails",
    "fisher_log_p",
    "homopolymer_length",
    "indel_qualities",
    "is_one_sided",
    "joint_errors",
    "may_be_significant",
    "phred",
    "phred_to_error",
    "poisson_screen",
    "rejected",
]


Integers = NDArray[np.integer[Any]]

UNMAPPABLE = 0.5
"""PM of mapping quality 0: one other place is as good."""

_ROUNDING = 1e-9
"""Errors of rounding of a Phred quality are smaller."""

UNKNOWN = 255
"""Quality of a mapping or a base that is unknown, and taken as certain."""

LEAST_ERROR = 2.0**-52
"""Least joint error probability, as in LoFreq: a base with unknown qualities only may still be wrong."""

_PHRED = np.array([10.0 ** (-quality / 10.0) for quality in range(256)])  # by the C library, as LoFreq


def _of_mapping() -> NDArray[np.float64]:
    table = _PHRED.copy()
    table[0], table[UNKNOWN] = UNMAPPABLE, 0.0
    return table


def _of_base() -> NDArray[np.float64]:
    table = _PHRED.copy()
    table[UNKNOWN] = 0.0
    return table


def _of_alignment() -> NDArray[np.float64]:
    table = _PHRED[:128].copy()
    table[NO_ALIGNMENT] = 0.0
    return table


_MAPPING, _ALIGNMENT, _BASE = _of_mapping(), _of_alignment(), _of_base()


def joint_errors(
    mapping: Integers,
    alignment: Integers,
    quality: Integers,
    *,
    use_mapping: bool,
) -> NDArray[np.float64]:
    """Return the joint error probability of each base, float64.

    Args:
        mapping: Phred mapping qualities; 255 is unknown.
        alignment: Phred alignment qualities; `NO_ALIGNMENT` is unknown.
        quality: Phred qualities of bases, or of indels; `UNKNOWN` is unknown.
        use_mapping: whether mapping qualities count.
    """
    pm = _MAPPING[mapping] if use_mapping else np.zeros(len(mapping))
    pa, pb = _ALIGNMENT[alignment], _BASE[quality]
    joint: NDArray[np.float64] = pm + (1 - pm) * pa + (1 - pm) * (1 - pa) * pb
    return np.maximum(joint, LEAST_ERROR)


def phred_to_error(quality: int) -> float:
    """Return the error probability of a Phred quality."""
    return float(_PHRED[quality])


def phred(probability: NDArray[np.float64], *, exact: bool) -> NDArray[np.int64]:
    """Return integer Phred qualities of probabilities, cut, not rounded.

    Args:
        probability: the probabilities, above 0.
        exact: whether to cut the logarithm of the float64 itself, as LoFreq does: 0.01 is a little above
            10^-2, so its quality is 19. Otherwise, such an error of rounding does not count.
    """
    if exact:
        cut: NDArray[np.int64] = (-10 * np.log10(probability.astype(np.longdouble))).astype(np.int64)
    else:
        cut = (-10.0 * np.log10(probability) + _ROUNDING).astype(np.int64)
    return cut


DINDEL = (0, 44, 44, 44, 43, 42, 36, 34, 31, 28, 27, 26, 25, 24, 23, 23, 22, 22, 21)
"""Phred quality of an indel before a homopolymer of 1, 2, … 18 bases, by length; longer ones have 0. Source:
Albers et al., "Dindel", Genome Res. 21 (2011), and LoFreq's `indelqual --dindel`."""


def indel_qualities(reference: NDArray[np.uint8], begin: int, end: int, longer: int = 0) -> NDArray[np.uint8]:
    """Return the quality of an indel after each position, uint8, (positions,).

    It follows from the homopolymer that begins at the next position; inside of one, the length counts as 1.
    The last position of the contig has 0.

    Args:
        reference: uint8, bases of the whole contig, by number.
        begin, end: the positions, from 0, without `end`.
        longer: quality before homopolymers that are longer than those of `DINDEL`.
    """
    longest = len(DINDEL)  # the length of all that are longer than the table
    number = end - begin
    bases = np.full(number + longest + 1, 255, dtype=np.uint8)  # 255: beyond the contig
    there = reference[begin : begin + len(bases)]
    bases[: len(there)] = there
    following = bases[1 : number + 1]
    length = (following != 255).astype(np.int64)
    goes_on = (following != bases[:number]) & (following != 255)
    for step in range(1, longest):
        goes_on = goes_on & (bases[1 + step : 1 + step + number] == following)
        length += goes_on
    quality: NDArray[np.uint8] = np.array((*DINDEL, longer), dtype=np.uint8)[length]
    return quality


def homopolymer_length(reference: NDArray[np.uint8], position: int) -> int:
    """Return the length of the homopolymer at the next position, as LoFreq reports it (HRUN).

    Bases on the left that are the same count, too: those of a gap that is not aligned as far to the left as
    possible.

    Args:
        reference: uint8, bases of the whole contig, by number.
        position: position of the base before the gap, from 0.
    """
    first = position + 1
    if first >= len(reference):
        return 1
    end, begin = first + 1, position
    while end < len(reference) and reference[end] == reference[first]:
        end += 1
    while begin >= 0 and reference[begin] == reference[first]:
        begin -= 1
    return end - begin - 1


def may_be_significant(columns: ColumnsToTest, sig: float) -> NDArray[np.bool_]:
    """Return which tested columns may have an alternative whose tail is at most `sig`.

    Args:
        columns: the columns of a window.
        sig: significance level of one test.
    """
    most = columns.alternatives.max(axis=1)
    possible = poisson_screen(columns.starts, columns.probability, columns.count, most, sig)
    return columns.tested & possible


def poisson_screen(
    starts: NDArray[np.int64],
    p: NDArray[np.float64],
    count: NDArray[np.int64],
    most: NDArray[np.int64],
    sig: float,
) -> NDArray[np.bool_]:
    """Return which tails may be at most `sig`, bool, (columns,).

    A Poisson-binomial distribution with mean m differs from the Poisson distribution by at most
    min(1, 1/m) · Σ p² in the probability of any event. So a column whose Poisson tail exceeds `sig` by more
    has a larger tail. Source: Barbour and Hall, Math. Proc. Camb. Phil. Soc. 95 (1984).

    Args:
        starts: int64, (columns + 1,): where the groups of each column begin.
        p, count: float64 and int64, (groups,): error probability, and number of trials with it.
        most: int64, (columns,): the observed number of errors.
        sig: significance level of one test.
    """
    from scipy.special import pdtrc

    columns = len(most)
    owner = np.repeat(np.arange(columns), np.diff(starts))
    mean = np.bincount(owner, p * count, columns)
    squares = np.bincount(owner, p * p * count, columns)
    tail = pdtrc(np.maximum(most - 1, 0), mean)  # P(X ≥ most)
    distance = squares * np.minimum(1.0, 1.0 / np.maximum(mean, 1e-300))
    possible: NDArray[np.bool_] = tail - distance * (1 + 1e-9) <= sig
    return possible


class ExactTails:
    """Computes tails, and counts them.

    Attributes:
        work: the columns that were computed.

    Args:
        place: where; None: here.
    """

    def __init__(self, place: Place | None = None) -> None:
        self._device = (place or here()).device.filter
        self.work: tuple[WorkDone, ...] = ()

    def of(self, columns: Columns) -> NDArray[np.float64]:
        """Return ln P(X ≥ K) of each column, float64, (columns,).

        Raises:
            DeviceError: the kernel cannot be compiled, or the device cannot be used.
        """
        found = log_tails(columns, device=self._device)
        self.work = merged_work((self.work, found.work))
        return found.log_tails


ALPHA = 0.001
"""False discovery rate of the filter."""

ONE_STRAND = Fraction(85, 100)
"""The filter takes only alternatives with a larger part of their bases on one strand."""

_SAME = 1e-8
"""Tables whose probabilities differ relatively by less count as equally likely."""


def fisher_log_p(a: int, b: int, c: int, d: int) -> float:
    """Return ln of the two-sided p-value of the table [[a, b], [c, d]] with fixed margins.

    It is the sum of the probabilities of all tables that are at most as likely. If only one table is
    possible, as where all bases are on one strand, it is 0: there is no evidence of bias. Source: Fisher,
    "The logic of inductive inference", J. R. Stat. Soc. 98 (1935).
    """
    from scipy.special import gammaln

    rows, columns, total = a + b, a + c, a + b + c + d
    lowest, highest = max(0, columns - (total - rows)), min(rows, columns)
    if lowest == highest:
        return 0.0
    x = np.arange(lowest, highest + 1)
    log_p: NDArray[np.float64] = -(
        gammaln(x + 1)
        + gammaln(rows - x + 1)
        + gammaln(columns - x + 1)
        + gammaln(total - rows - columns + x + 1)
    )
    largest = float(log_p.max())
    weights = np.exp(log_p - largest)
    observed = float(log_p[a - lowest])
    extreme = log_p[log_p <= observed + _SAME]
    tail = float(extreme.max()) + math.log(float(np.exp(extreme - extreme.max()).sum()))
    return min(0.0, tail - largest - math.log(float(weights.sum())))


def is_one_sided(forward: int, reverse: int) -> bool:
    """Return whether more than 85 % of an alternative's bases are on one strand."""
    return max(forward, reverse) > ONE_STRAND * (forward + reverse)


def rejected(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Return which tests are rejected at a false discovery rate.

    With the p-values in increasing order, those up to the last one with p < rank / number · alpha are
    rejected: strictly less, as in LoFreq. Source: Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995).
    """
    number = len(p_values)
    order = sorted(range(number), key=lambda at: p_values[at])
    last = max((rank for rank, at in enumerate(order, 1) if p_values[at] < alpha * rank / number), default=0)
    found = [False] * number
    for at in order[:last]:
        found[at] = True
    return found
