"""The tail of a Poisson-binomial distribution, over groups of equal probabilities.

Tilt (`tilt.py`), then convolve the windows of the groups' binomial distributions (`windows.py`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.tilt import log_of_all, log_tail_of, tilt_of
from syclade.fallback.tails.windows import Window, binomial_window, convolve

__all__ = ["log_tail", "reduce_groups", "tail_of_groups"]


def log_tail(probabilities: NDArray[np.float64], counts: NDArray[np.int64], at_least: int) -> float:
    """Return ln P(X ≥ at_least) of the number X of successes in independent trials.

    Args:
        probabilities: float64 (g,), in [0, 1]; those above 0 are at least 1e-200.
        counts: int64 (g,), trials with each probability, ≥ 0.
        at_least: K.

    Returns:
        Natural logarithm in [−∞, 0], correct to 1e-12·max(1, |ln p|).
    """
    p, c, k = reduce_groups(probabilities, counts, at_least)
    if k <= 0:
        return 0.0
    if k > c.sum():
        return -math.inf
    return tail_of_groups(p, c, k)


def reduce_groups(
    probabilities: NDArray[np.float64], counts: NDArray[np.int64], at_least: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return the groups that leave something to chance, distinct and in increasing order, and their K."""
    given = np.asarray(probabilities, dtype=np.float64)
    trials = np.asarray(counts, dtype=np.int64)
    certain = int(trials[given == 1.0].sum())
    kept = (given > 0.0) & (given < 1.0) & (trials > 0)
    p, inverse = np.unique(given[kept], return_inverse=True)
    c = np.zeros(len(p), dtype=np.int64)
    np.add.at(c, inverse, trials[kept])
    return p, c, int(at_least) - certain


def tail_of_groups(p: NDArray[np.float64], counts: NDArray[np.int64], at_least: int) -> float:
    """Return ln P(X ≥ at_least) for 0 < p < 1 and 0 < at_least ≤ Σ counts; the mirror of the kernel."""
    trials = counts.astype(np.float64)
    if at_least == counts.sum():
        return log_of_all(p, trials)
    tilt = tilt_of(p, trials, at_least)
    if tilt is None:
        return 0.0
    window: Window = (0, np.ones(1))
    with np.errstate(under="ignore"):
        for one, count in zip(p.tolist(), counts.tolist(), strict=True):
            window = convolve(window, binomial_window(count, one / ((1.0 - one) * tilt.r)))
    return log_tail_of(window, at_least, tilt)
