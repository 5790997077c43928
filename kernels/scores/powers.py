"""Powers of two and their logarithm, in integer arithmetic with the same results everywhere.

The fraction of an exponent has 16 bits. 2^x for 0 <= x < 1 is a polynomial of degree 4 with a relative error
of at most 2.8e-5; the logarithm of a sum is one of degree 7 with an error of at most 5e-7.
"""

import numpy as np

from syclade.kernels.target import device_function, minimum

FRACTION_BITS = 16
"""Fraction bits of exponents: scores are in units of 2^-f octave, with f no greater than this."""

MANTISSA_BITS = 24
"""The power of an exponent whose fraction is 0 is 2^24."""

POWER = (437, 1716, 7906, 22710)
"""Coefficients of x^4, x^3, x^2 and x in 2^x - 1, in units of 2^-15.

They are a least-squares fit of the relative error, rounded so that the error is least.
"""

LOGARITHM = (-15477, 65038, -134550, 204230, -291239, 464159)
"""Coefficients of x^5 ... 1 in (log2(1 + x) - x) / (x (1 - x)), in units of 2^-20."""

_BITS = np.int32(FRACTION_BITS)
_MASK = np.int32(2**FRACTION_BITS - 1)
_C4, _C3, _C2, _C1 = map(np.int32, POWER)
_ONE = np.int32(2**MANTISSA_BITS)
_TO_MANTISSA = np.int32(FRACTION_BITS + 15 - MANTISSA_BITS)
_LARGEST_SHIFT = np.int32(31)

_L5, _L4, _L3, _L2, _L1, _L0 = map(np.int64, LOGARITHM)
_FINE = np.int64(20)
_FINE_ONE = np.int64(2**20)
_TOP = np.int64(2**30)
_TO_FINE = np.int64(10)


@device_function
def power_of_two(
    exponent,  # IN int32, one per lane, in units of 2^-f
    octave,  # IN int32, one per lane: no less than the exponent's whole part
    fraction,  # IN int32, the same in all lanes: f
    spare,  # IN int32, the same in all lanes: bits by which powers are shorter than 24
):
    """Return 2^(exponent - octave) in units of 2^(spare - 24), rounded down (int32)."""
    whole = np.int32(exponent >> fraction)
    gap = np.int32(np.int32(octave - whole) + spare)
    gap = minimum(gap, _LARGEST_SHIFT)
    x = np.int32(np.int32(exponent << np.int32(_BITS - fraction)) & _MASK)
    part = np.int32(_C3 + np.int32(np.int32(x * _C4) >> _BITS))
    part = np.int32(_C2 + np.int32(np.int32(x * part) >> _BITS))
    part = np.int32(_C1 + np.int32(np.int32(x * part) >> _BITS))
    mantissa = np.int32(_ONE + np.int32(np.int32(x * part) >> _TO_MANTISSA))
    return np.int32(mantissa >> np.int32(gap & _LARGEST_SHIFT))


@device_function
def logarithm_of_two(
    number,  # IN int32 > 0, one per lane
    fraction,  # IN int64, the same in all lanes: f
):
    """Return log2 of the number in units of 2^-f, rounded to the nearest (int64)."""
    mantissa = np.int64(number)
    exponent = np.int64(30)
    for log_width in range(5):
        width = np.int64(16) >> np.int64(log_width)
        empty = np.int64((mantissa >> (np.int64(31) - width)) == np.int64(0))
        mantissa = mantissa << (width * empty)
        exponent = exponent - width * empty
    x = (mantissa - _TOP) >> _TO_FINE
    part = _L4 + ((x * _L5) >> _FINE)
    part = _L3 + ((x * part) >> _FINE)
    part = _L2 + ((x * part) >> _FINE)
    part = _L1 + ((x * part) >> _FINE)
    part = _L0 + ((x * part) >> _FINE)
    curve = (((x * (_FINE_ONE - x)) >> _FINE) * part) >> _FINE
    spare = _FINE - fraction
    half = np.int64(1) << (spare - np.int64(1))
    return (exponent << fraction) + ((x + curve + half) >> spare)
