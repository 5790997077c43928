"""Numbers of two parts, high + low: sums of many terms without the error of each rounding.

Algorithm 1 adds N logarithms for each entry. In one double, the roundings of 10^5 additions exceed 1e-12.
"""

import numpy as np

from syclade.kernels.tails.arithmetic import exp, log1p_near_0
from syclade.kernels.target import device_function

LN2 = np.float64(0.6931471805599453)
NEGLIGIBLE = np.float64(-40.0)
LARGE = np.float64(0.41421356)

_NONE, _HALF, _SINGLE = np.float64(0.0), np.float64(0.5), np.float64(1.0)


@device_function
def add_to_pair(
    high,  # IN float64
    low,  # IN float64
    other,  # IN float64: the other number's high part
    other_low,  # IN float64
):
    """Return (high, low) of the sum; the error of the high part's rounding goes to the low part (Knuth)."""
    total = high + other
    rounded = total - high
    error = (high - (total - rounded)) + (other - rounded)
    return total, (low + other_low) + error


@device_function
def log_sum_exp(
    a,  # IN float64
    a_low,  # IN float64
    b,  # IN float64
    b_low,  # IN float64
):
    """Return (high, low) of ln(e^a + e^b) (Eq. 4); without branches, so that loops with it are vectorised."""
    first = a > b
    high = a if first else b
    high_low = a_low if first else b_low
    difference = (b - a) + (b_low - a_low)
    difference = difference if first else -difference
    difference = difference if difference < _NONE else _NONE
    counts = difference > NEGLIGIBLE
    e = exp(difference if counts else NEGLIGIBLE)
    large = e > LARGE
    series = log1p_near_0(_HALF * (e - _SINGLE) if large else e)
    series = series + (LN2 if large else _NONE)
    return add_to_pair(high, high_low, series if counts else _NONE, _NONE)
