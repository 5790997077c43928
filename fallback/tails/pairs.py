"""Numbers of two parts, high + low: sums of many terms without the error of each rounding.

Algorithm 1 adds N logarithms for each entry. In one double, the roundings of 10^5 additions exceed 1e-12.
`kernels/tails/pairs.py` has the same functions for devices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import exp, log1p_near_0

__all__ = ["Pair", "add_to_pair", "log_sum_exp"]

Numbers = NDArray[np.float64]
Pair = tuple[Numbers, Numbers]

LN2 = 0.6931471805599453
NEGLIGIBLE = -40.0
"""exp of less is below half an ulp of 1."""


def add_to_pair(one: Pair, other: Pair) -> Pair:
    """Return the sum; the error of the high part's rounding goes to the low part (Knuth's TwoSum)."""
    total = one[0] + other[0]
    rounded = total - one[0]
    error = (one[0] - (total - rounded)) + (other[0] - rounded)
    return total, (one[1] + other[1]) + error


def log_sum_exp(a: Pair, b: Pair) -> Pair:
    """Return ln(e^a + e^b)."""
    first = a[0] > b[0]
    high, high_low = (np.where(first, one, other) for one, other in zip(a, b, strict=True))
    difference = (b[0] - a[0]) + (b[1] - a[1])
    difference = np.minimum(np.where(first, difference, -difference), 0.0)
    counts = difference > NEGLIGIBLE
    e = exp(np.where(counts, difference, NEGLIGIBLE))
    large = e > 0.41421356
    series = log1p_near_0(np.where(large, 0.5 * (e - 1.0), e)) + np.where(large, LN2, 0.0)
    nothing = np.zeros_like(high)
    return add_to_pair((high, high_low), (np.where(counts, series, 0.0), nothing))
