"""P-values: exact tails, a bound that rules out most tests without them, and strand bias.

Strand bias is Fisher's exact test on strands of reference and alternative, corrected for many tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.counts import ColumnsToTest
from syclade.host.calls.kernels import Place, here
from syclade.host.calls.tails import Columns, log_tails
from syclade.host.device.work import WorkDone, merged_work

__all__ = [
    "ALPHA",
    "ONE_STRAND",
    "ExactTails",
    "fisher_log_p",
    "is_one_sided",
    "may_be_significant",
    "poisson_screen",
    "rejected",
]  # fmt: skip


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
