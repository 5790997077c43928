"""Logarithm unit: both logarithms of a trial's probability."""

from syclade.kernels.tails.arithmetic import log, log1p
from syclade.kernels.target import device_function


@device_function
def logarithms(p):
    """Return (ln p, ln(1 − p))."""
    return log(p), log1p(-p)
