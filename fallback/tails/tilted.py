"""The tail of a Poisson-binomial distribution, tilted, one trial at a time in a band around the mean.

The recurrence is that of Algorithm 1 of Xu, Rixner and Cox (2023), but on probabilities of the tilted
distribution (`tilt.py`): no cell needs a logarithm or an exponential.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.grouped import reduce_groups
from syclade.fallback.tails.tilt import log_of_all, log_tail_of, tilt_of
from syclade.fallback.tails.windows import in_order

__all__ = ["CUT", "log_tail", "tail_of_groups"]

CUT = 1e-22
"""Probabilities below this at either end of the band are dropped; all sum to 1."""


def log_tail(probabilities: NDArray[np.float64], counts: NDArray[np.int64], at_least: int) -> float:
    """Return ln P(X ≥ at_least); arguments and result as `grouped.log_tail`."""
    p, c, k = reduce_groups(probabilities, counts, at_least)
    if k <= 0:
        return 0.0
    if k > c.sum():
        return -math.inf
    return tail_of_groups(p, c, k)


def tail_of_groups(p: NDArray[np.float64], counts: NDArray[np.int64], at_least: int) -> float:
    """Return ln P(X ≥ at_least) for 0 < p < 1 and 0 < at_least ≤ Σ counts; the mirror of the kernel."""
    trials = counts.astype(np.float64)
    if at_least == counts.sum():
        return log_of_all(p, trials)
    tilt = tilt_of(p, trials, at_least)
    if tilt is None:
        return 0.0
    band = np.zeros(int(counts.sum()) + 1)
    band[0], first, end = 1.0, 0, 1
    for one, count in zip(p.tolist(), counts.tolist(), strict=True):
        below = one + (1.0 - one) * tilt.r
        hit, miss = one / below, (1.0 - one) * tilt.r / below
        for _ in range(count):
            # NumPy evaluates the right-hand side before it writes.
            band[first + 1 : end + 1] = band[first + 1 : end + 1] * miss + band[first:end] * hit
            band[first] *= miss
            end += 1
            while band[end - 1] < CUT:
                end -= 1
                band[end] = 0.0
            while band[first] < CUT:
                first += 1
    # The probabilities of a trial sum to 1 only up to a rounding, and there are many trials.
    weights = band[first:end] / in_order(band[first:end])
    return log_tail_of((first, weights), at_least, tilt)
