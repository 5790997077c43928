"""Exponential tilting: give a Poisson-binomial distribution the mean K, so that doubles hold its tail at K.

With r = e^−t, the tilted probabilities are p' = p / (p + (1 − p)·r), and
P(X ≥ K) = Π (1 + p·(1/r − 1)) · r^K · Σ_{k ≥ K} r^(k − K) P'(k).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import log, log1p
from syclade.fallback.tails.windows import Window, in_order

MOST_STEPS = 100
CLOSE = 1e-9
"""Newton's method ends when the mean is K to this part; the result is exact for any tilt near it."""


HOPELESS = 80.0
"""K is certain if it is more than √(80·mean) below the mean: the rest has a probability below 1e-17."""


class Tilt(NamedTuple):
    """Tilt of a column.

    Attributes:
        r: e^−t in (0, 1]; 1: none.
        scale: logarithm of the factor of the tilted distribution's tail.
    """

    r: float
    scale: float


def tilt_of(p: NDArray[np.float64], counts: NDArray[np.float64], at_least: int) -> Tilt | None:
    """Return the tilt for 0 < K < Σ counts; None if P(X ≥ K) is 1 to the last bit."""
    mean = in_order(counts * p)
    if mean < at_least:
        r = tilt_to(p, counts, at_least)
        return Tilt(r, log_scale(p, counts, at_least, r))
    if (mean - at_least) * (mean - at_least) > HOPELESS * mean:
        return None
    return Tilt(1.0, 0.0)


def tilt_to(p: NDArray[np.float64], counts: NDArray[np.float64], at_least: int) -> float:
    """Return r = e^−t in (0, 1] with Σ counts·p' = at_least; K is above the mean and below Σ counts.

    The reciprocal of the mean is increasing and concave in r, and linear if all probabilities are equal:
    Newton's method from r = 0 rises to the root and never passes it.
    """
    q = 1.0 - p
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


def log_of_all(p: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    """Return ln P of success in all trials."""
    return min(0.0, in_order(counts * log(p)))


def log_tail_of(window: Window, at_least: int, tilt: Tilt) -> float:
    """Return ln P(X ≥ at_least) from the window of the tilted distribution."""
    first, weights = window
    r, scale = tilt
    if r == 1.0:
        below = min(max(at_least - first, 0), len(weights))
        missing = in_order(weights[:below]) if below else 0.0
        if missing < 0.5:
            return min(0.0, float(log1p(np.array(-missing))))
    total = 0.0
    for weight in weights[max(at_least - first, 0) :][::-1].tolist():
        total = total * r + weight
    return min(0.0, scale + float(log(np.array(total))))
