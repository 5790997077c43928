"""Exponential tilting: give a Poisson-binomial distribution the mean K, so that doubles hold its tail at K.

With r = e^−t, the tilted probabilities are p' = p / (p + (1 − p)·r), and
P(X ≥ K) = Π (1 + p·(1/r − 1)) · r^K · Σ_{k ≥ K} r^(k − K) P'(k).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import log, log1p
from syclade.fallback.tails.windows import Window, in_order

MOST_STEPS = 100
CLOSE = 1e-9
"""Newton's method ends when the mean is K to this part; the result is exact for any tilt near it."""


def tilt_to(p: NDArray[np.float64], counts: NDArray[np.float64], at_least: int) -> float:
    """Return r = e^−t in (0, 1] with Σ counts·p' = at_least; 1 (no tilt) if the mean is not below it.

    The reciprocal of the mean is increasing and concave in r, and linear if all probabilities are equal:
    Newton's method from r = 0 rises to the root and never passes it.
    """
    q = 1.0 - p
    if in_order(counts * p) >= at_least:
        return 1.0
    r = 0.0
    for _ in range(MOST_STEPS):
        below = p + q * r
        part = p / below
        mean = in_order(counts * part)
        if mean - at_least <= CLOSE * at_least:
            break
        slope = in_order(counts * (part * (q / below)))
        r = r + (mean / at_least - 1.0) * mean / slope
    return r


def log_scale(p: NDArray[np.float64], counts: NDArray[np.float64], at_least: int, r: float) -> float:
    """Return ln(Π (1 + p·(1/r − 1))^count · r^at_least)."""
    growth = (1.0 - r) / r
    return in_order(counts * log1p(p * growth)) + at_least * float(log(np.array(r)))


def log_tail_of(window: Window, at_least: int, r: float, scale: float) -> float:
    """Return ln P(X ≥ at_least) from the tilted distribution's window; `scale` is that of `log_scale`."""
    first, weights = window
    if r == 1.0:
        below = min(max(at_least - first, 0), len(weights))
        missing = in_order(weights[:below]) if below else 0.0
        if missing < 0.5:
            return min(0.0, float(log1p(np.array(-missing))))
    total = 0.0
    for weight in weights[max(at_least - first, 0) :][::-1].tolist():
        total = total * r + weight
    return min(0.0, scale + float(log(np.array(total))))
