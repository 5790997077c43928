"""Positive numbers of any size in integers, with the same results everywhere.

A number is a mantissa of 31 bits, 2^30 ... 2^31 - 1, and an exponent: mantissa * 2^(exponent - 30). Results
are rounded down, with a relative error below 2^-29. The mantissa of 0 is 0, with an exponent so low that
adding it changes nothing.
"""

import numpy as np

from syclade.kernels.target import device_function, maximum, minimum

MANTISSA_BITS = 30
"""The mantissa of 1 is 2^30, and its exponent is 0."""

_BITS = np.int64(MANTISSA_BITS)
_TOP = np.int64(MANTISSA_BITS + 1)
_ZERO = np.int64(0)


@device_function
def product(
    mantissa_a,  # IN int64, one per lane
    exponent_a,  # IN likewise
    mantissa_b,  # IN likewise
    exponent_b,  # IN likewise
):
    """Return a * b (mantissa, exponent; int64)."""
    mantissa = (mantissa_a * mantissa_b) >> _BITS
    carry = mantissa >> _TOP
    return mantissa >> carry, exponent_a + exponent_b + carry


@device_function
def total(
    mantissa_a,  # IN int64, one per lane
    exponent_a,  # IN likewise
    mantissa_b,  # IN likewise
    exponent_b,  # IN likewise
):
    """Return a + b (mantissa, exponent; int64)."""
    above = minimum(maximum(exponent_a - exponent_b, _ZERO), _TOP)
    below = minimum(maximum(exponent_b - exponent_a, _ZERO), _TOP)
    mantissa = (mantissa_a >> below) + (mantissa_b >> above)
    carry = mantissa >> _TOP
    return mantissa >> carry, maximum(exponent_a, exponent_b) + carry
