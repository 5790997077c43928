"""Factors: 2^weight of every class, as numbers (numbers.py)."""

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS
from syclade.kernels.sums.arguments import ROOTS
from syclade.kernels.sums.numbers import MANTISSA_BITS
from syclade.kernels.target import address, control, device_function

_BITS = np.int64(MANTISSA_BITS)
_ONE = np.int64(1 << MANTISSA_BITS)
_TWO = control(2)
_FRACTION = np.int64(FRACTION_BITS)


@device_function
def mantissa_of(
    given,  # IN roots
    part,  # IN int64: the fraction of an exponent, in units of 2^-16
):
    """Return 2^part as the product of 2^(2^-k) for the bits k of the part (int64, 2^30 ... 2^31 - 1)."""
    mantissa = _ONE
    for k in range(1, ROOTS):
        if (part >> (_FRACTION - np.int64(k))) & np.int64(1) != np.int64(0):
            mantissa = (mantissa * given.roots[address(k)]) >> _BITS
    return mantissa


@device_function
def put_factors_of(
    given,  # IN roots
    factors,  # OUT (slots, classes, 2) int64, flat
    at,  # IN address: slot * classes + class
    weight,  # IN int64
):
    """Compute the factor of a class."""
    part = weight & ((np.int64(1) << _FRACTION) - np.int64(1))
    start = address(_TWO) * at
    factors[start] = mantissa_of(given, part)
    factors[start + address(1)] = weight >> _FRACTION


@device_function
def put_factors(
    slot,  # IN weights, roots; OUT factors
):
    """Compute the factors of all classes."""
    given, here = slot.given, slot.here
    own = here.number * address(here.sizes.classes)
    for code in range(here.sizes.classes):
        at = own + address(code)
        put_factors_of(given, given.factors, at, given.weights[at])
