"""Natural logarithm and exponential of arrays, made of IEEE +, −, ×, ÷ in a fixed order.

numpy's own functions differ between processors. These give the same bits as `kernels/tails/arithmetic.py`
does on every device; their errors are below 3 ulp. All arguments and results are float64, of any shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

LN2_HIGH = 0.693147180369123816490  # ln 2 to 32 bits: its product with an exponent is exact
LN2_LOW = 1.90821492927058770002e-10  # ln 2 − LN2_HIGH
LOG2_E = 1.4426950408889634
SQRT_HALF = 0.7071067811865476

LOG_TERMS = (23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0)
EXP_TERMS = range(12, -1, -1)
ROUND = 6755399441055744.0
"""1.5 · 2^52: a number below 2^51 is rounded to an integer when this is added and subtracted."""


def log1p_near_0(f: Numbers) -> Numbers:
    """Return ln(1 + f) for f in [√½ − 1, √2 − 1].

    With s = f / (2 + f), ln(1 + f) = 2 artanh s = f − s·(f − R), where R = 2·Σ s^(2n + 2) / (2n + 3).
    """
    s = f / (2.0 + f)
    z = s * s
    series = np.full_like(f, 1.0 / 25.0)
    for denominator in LOG_TERMS:
        series = series * z + 1.0 / denominator
    return f - s * (f - 2.0 * (z * series))


def log_parts(x: Numbers) -> tuple[Numbers, Numbers]:
    """Return two parts of ln x of positive normal numbers: a multiple of LN2_HIGH, and at most 0.35."""
    part, exponent = np.frexp(x)
    low = part <= SQRT_HALF
    part = np.where(low, 2.0 * part, part)
    power: Numbers = (exponent - low).astype(np.float64)
    return power * LN2_HIGH, log1p_near_0(part - 1.0) + power * LN2_LOW


def log(x: Numbers) -> Numbers:
    """Return ln x of positive normal numbers."""
    high, low = log_parts(x)
    return high + low


def log1p(y: Numbers) -> Numbers:
    """Return ln(1 + y) for y > −1."""
    near = (y > -0.29) & (y < 0.41)
    return np.where(near, log1p_near_0(np.where(near, y, 0.0)), log(np.where(near, 1.0, 1.0 + y)))


def exp(d: Numbers) -> Numbers:
    """Return e^d for d in [−40, 0]."""
    power = (-d * LOG2_E + ROUND) - ROUND
    rest = (d + power * LN2_HIGH) + power * LN2_LOW
    series = np.full_like(d, 1.0 / math.factorial(13))
    for n in EXP_TERMS:
        series = series * rest + 1.0 / math.factorial(n)
    return np.ldexp(series, -power.astype(np.int64))
