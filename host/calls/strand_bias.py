"""Strand bias: Fisher's exact test on strands of reference and alternative, and its correction for many
tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALPHA", "ONE_STRAND", "fisher_log_p", "is_one_sided", "rejected"]

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
