"""Upper bounds of sums of powers of two after a change of their octave or of their exponents.

Sums as in all_attachments.py: each term is a power relative to the whole octave of the best one, rounded
down. `docs/model.md`, "Sums", has the proofs, and tests/kernels/test_octaves.py compares with exact sums.
"""

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS, MANTISSA_BITS, power_of_two
from syclade.kernels.target import device_function, maximum, minimum

_ZERO = np.int32(0)
_ONE = np.int32(1)
_LARGEST_SHIFT = np.int32(31)
_TERM_BITS = np.int32(MANTISSA_BITS + 1)
_TO_FACTOR = np.int32(MANTISSA_BITS - FRACTION_BITS)

MARGIN = np.int32(16)
"""Added to a factor of at least 2^16, for the errors of three polynomials, each below 2.8e-5 of its value."""

_ROOM = np.int64(13)
_WIDEST_SHIFT = np.int64(63)
_FACTOR_BITS = np.int64(FRACTION_BITS + 13)
_WIDE_ONE = np.int64(1)

LOGARITHM = (-1442, 4794, -8717, 14475)
"""Coefficients of x^3 ... 1 in (log2(1 + x) - x) / (x (1 - x)), in units of 2^-15: a least-squares fit."""

LOGARITHM_MARGIN = np.int32(4)
"""Added to the logarithm, in units of 2^-15: for its own error and that of the exact one."""

_L3, _L2, _L1, _L0 = map(np.int32, LOGARITHM)
_FINE = np.int32(15)
_FINE_ONE = np.int32(2**15)
_TOP = np.int32(2**30)


@device_function
def carried(
    total,  # IN int32, one per lane: sum of terms relative to `old`
    count,  # IN int32, the same in all lanes: number of terms; 2^(25 - spare) times it is below 2^31
    old,  # IN int32, one per lane: octave
    new,  # IN int32, one per lane: octave, no less than the whole part of any of the exponents
    spare,  # IN int32, the same in all lanes: bits by which powers are shorter than 24
):
    """Return an upper bound of the sum relative to `new` (int32): the sum itself if the octaves are equal."""
    most = np.int32(_TERM_BITS - spare)
    rise = np.int32(new - old)
    up = minimum(maximum(rise, _ZERO), _LARGEST_SHIFT)
    down = maximum(np.int32(-rise), _ZERO)
    some = np.int32(minimum(down, _ONE))
    # Each term has lost less than 1, which is less than 2^down now; and each is below 2^most.
    lost = np.int32(np.int32(count << minimum(down, most)) * some)
    room = np.int32(np.int32(count << most) - lost)
    kept = np.int32(np.int32(total >> up) << minimum(down, _LARGEST_SHIFT))
    return np.int32(minimum(kept, room) + lost)


@device_function
def scaled(
    total,  # IN int32, one per lane: sum of terms relative to `old`
    count,  # IN int32, the same in all lanes: number of terms
    shift,  # IN int32, one per lane: what is added to all exponents, in units of 2^-f
    rise,  # IN int32, one per lane: by how much the octave rises
    fraction,  # IN int32, the same in all lanes: f
):
    """Return an upper bound of the sum of the terms with shifted exponents relative to another octave.

    It is an int64 below 2^63. Where it is below 2^29 times the number of terms, it is a bound; any greater
    value may be too small, but then a sum of terms, each below 2^25, is smaller anyway.
    """
    whole = np.int32(shift >> fraction)
    mantissa = power_of_two(shift, whole, fraction, _ZERO)
    factor = np.int32(np.int32(mantissa >> _TO_FACTOR) + MARGIN)
    product = (np.int64(total) + np.int64(count)) * np.int64(factor)
    less = _FACTOR_BITS - np.int64(np.int32(whole - rise))
    less = minimum(maximum(less, np.int64(0)), _WIDEST_SHIFT)
    return ((product << _ROOM) >> less) + _WIDE_ONE


@device_function
def upper_of_sum(
    best,  # IN int32, one per lane: the best score, in units of 2^-f
    total,  # IN int32 > 0, one per lane: sum of the terms, or an upper bound of it
    fraction,  # IN int32, the same in all lanes: f
    spare,  # IN int32, the same in all lanes: bits by which powers are shorter than 24
):
    """Return an upper bound of the cell's contribution (int32), in less time than `of_sum` takes.

    With 32 bits a vector holds all lanes, and a sum is almost never below 2^15.
    """
    mantissa = maximum(total, _FINE_ONE)
    exponent = np.int32(30)
    for log_width in range(4):
        width = np.int32(8 >> log_width)
        empty = np.int32(np.int32(mantissa >> np.int32(31 - width)) == _ZERO)
        move = np.int32(width * empty)
        mantissa = np.int32(mantissa << move)
        exponent = np.int32(exponent - move)
    x = np.int32(np.int32(np.int32(mantissa - _TOP) >> _FINE) + _ONE)
    part = np.int32(_L2 + np.int32(np.int32(x * _L3) >> _FINE))
    part = np.int32(_L1 + np.int32(np.int32(x * part) >> _FINE))
    part = np.int32(_L0 + np.int32(np.int32(x * part) >> _FINE))
    curve = np.int32(np.int32(np.int32(np.int32(x * np.int32(_FINE_ONE - x)) >> _FINE) * part) >> _FINE)
    above = np.int32(np.int32(exponent << _FINE) + np.int32(np.int32(x + curve) + LOGARITHM_MARGIN))
    fine = np.int32(np.int32(above << _ONE) >> np.int32(np.int32(FRACTION_BITS) - fraction))
    whole = np.int32(np.int32(best >> fraction) - np.int32(np.int32(MANTISSA_BITS) - spare))
    return np.int32(np.int32(np.int32(whole << fraction) + fine) + _ONE)


@device_function
def capped(
    bound,  # IN int64, one per lane
    count,  # IN int32, the same in all lanes: number of terms
    best,  # IN int32, one per lane: no less than any of their exponents, in units of 2^-f
    octave,  # IN int32, one per lane: no less than the whole part of `best`
    fraction,  # IN int32, the same in all lanes: f
    spare,  # IN int32, the same in all lanes: bits by which powers are shorter than 24
):
    """Return an upper bound of a sum of terms (int32): the lesser of a bound and of what the best allows."""
    most = np.int32(count << np.int32(_TERM_BITS - spare))
    gap = minimum(np.int32(octave - np.int32(best >> fraction)), _LARGEST_SHIFT)
    return np.int32(minimum(bound, np.int64(np.int32(most >> gap))))
