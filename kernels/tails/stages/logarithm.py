"""Logarithm unit: both logarithms of a trial's probability."""

import numpy as np

from syclade.kernels.tails.arithmetic import log1p, log_parts
from syclade.kernels.tails.pairs import add_to_pair
from syclade.kernels.target import device_function

_NONE = np.float64(0.0)


@device_function
def logarithms(p):
    """Return (high and low part of ln p, ln(1 − p))."""
    part, rest = log_parts(p)
    high, low = add_to_pair(part, _NONE, rest, _NONE)
    return high, low, log1p(-p)
