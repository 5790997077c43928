"""Powers of two and their logarithm, in integers (the mirror of `kernels/scores/powers.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FRACTION_BITS = 16
"""Fraction bits of exponents: scores are in units of 2^-f octave, with f no greater."""

MANTISSA_BITS = 24
"""The power of an exponent whose fraction is 0 is 2^24."""

POWER = (437, 1716, 7906, 22710)
"""Coefficients of x^4, x^3, x^2 and x in 2^x - 1, in units of 2^-15."""

LOGARITHM = (-15477, 65038, -134550, 204230, -291239, 464159)
"""Coefficients of x^5 ... 1 in (log2(1 + x) - x) / (x (1 - x)), in units of 2^-20."""

_LARGEST_SHIFT = 31


def power_of_two(
    exponent: NDArray[np.int32],  # IN in units of 2^-f
    octave: NDArray[np.int32],  # IN no less than the exponent's whole part
    fraction: Any,  # IN int32: f
    spare: Any,  # IN int32
) -> NDArray[np.int32]:
    """Return 2^(exponent - octave) in units of 2^(spare - 24), rounded down."""
    gap = np.minimum(octave - (exponent >> fraction) + spare, _LARGEST_SHIFT)
    x = (exponent << (FRACTION_BITS - fraction)) & (2**FRACTION_BITS - 1)
    part = np.zeros_like(x)
    for coefficient in POWER:
        part = coefficient + ((x * part) >> FRACTION_BITS)
    mantissa = 2**MANTISSA_BITS + ((x * part) >> (FRACTION_BITS + 15 - MANTISSA_BITS))
    return np.asarray(mantissa >> gap, dtype=np.int32)


def logarithm_of_two(
    number: NDArray[np.int32],  # IN > 0
    fraction: Any,  # IN int64: f
) -> NDArray[np.int64]:
    """Return log2 of the number in units of 2^-f, rounded to the nearest."""
    # The exponent of a float64 is the position of the leading one: exact below 2^53.
    exponent = np.frexp(number.astype(np.float64))[1].astype(np.int64) - 1
    x = ((number.astype(np.int64) << (30 - exponent)) - 2**30) >> 10
    part = np.zeros_like(x)
    for coefficient in LOGARITHM:
        part = coefficient + ((x * part) >> 20)
    curve = (((x * (2**20 - x)) >> 20) * part) >> 20
    spare = 20 - fraction
    return np.asarray((exponent << fraction) + ((x + curve + (1 << (spare - 1))) >> spare), dtype=np.int64)
