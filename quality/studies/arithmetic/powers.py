"""Ways to compute a power of two, in float64 and as on devices, all for exponents in octaves.

Sources: Schraudolph, "A fast, compact approximation of the exponential function", 1999; the polynomials are
those of Ernst, Georg, Jahn, Wettig, "Performance engineering for ∞SCITE", 2020, section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import FRACTION_BITS, MANTISSA_BITS, POWER, power_of_two
from syclade.fallback.sums.numbers import MANTISSA_BITS as SUM_MANTISSA_BITS
from syclade.fallback.sums.numbers import powers_of_two

__all__ = ["ORDERS", "POWERS", "Power", "coefficients", "schraudolph"]

Floats = NDArray[np.float64]

ORDERS = (1, 2, 3, 4, 5)
"""Orders of the seed's polynomials."""

_POINTS, _ROUNDS = 513, 200


class Power(NamedTuple):
    """A way to compute 2^x.

    Attributes:
        name: name for reports.
        of: (x) -> 2^x, float64; x may have any shape and is at most 1.
        order: order of the polynomial, or None.
    """

    name: str
    of: Callable[[Floats], Floats]
    order: int | None = None


def coefficients(order: int) -> Floats:
    """Return the polynomial that has the smallest largest relative error for 2^x, 0 <= x <= 1.

    Returns:
        float64, shape (order + 1,): the coefficient of the highest power first.

    Source: Lawson's iteration of weighted least squares, as in Rice, "The approximation of functions", 1969.
    """
    x = (1 - np.cos(np.linspace(0, np.pi, _POINTS))) / 2
    terms = np.vander(x, order + 1) / np.exp2(x)[:, None]
    weight = np.full(_POINTS, 1 / _POINTS)
    best, least = np.zeros(order + 1), np.inf
    for _ in range(_ROUNDS):
        root = np.sqrt(weight)
        found = np.linalg.lstsq(terms * root[:, None], root, rcond=None)[0]
        error = np.abs(terms @ found - 1)
        if error.max() < least:
            best, least = found, float(error.max())
        weight = weight * error
        weight = weight / weight.sum()
    return best


def _polynomial(made: Floats, x: Floats) -> Floats:
    whole = np.floor(x)
    return np.ldexp(np.polyval(made, x - whole), whole.astype(np.int64))


def schraudolph(x: Floats) -> Floats:
    """Return 2^x by one multiplication, addition and conversion: the bits of the high word of the result."""
    high = (x * 2.0**20 + 1023 * 2.0**20).astype(np.int64)
    made: Floats = (np.maximum(high, 0) << 32).view(np.float64)
    return made


def _sum_score(x: Floats) -> Floats:
    exponent = np.rint(x * 2**FRACTION_BITS).astype(np.int32)
    octave = np.zeros_like(exponent)
    made: Floats = power_of_two(exponent, octave, np.int32(FRACTION_BITS), np.int32(0)) / 2.0**MANTISSA_BITS
    return made


def _factors(x: Floats) -> Floats:
    numbers = powers_of_two(np.rint(x * 2**FRACTION_BITS).astype(np.int64))
    made: Floats = np.ldexp(numbers.mantissa.astype(np.float64), numbers.exponent - SUM_MANTISSA_BITS)
    return made


POWERS = (
    Power("numpy exp2", np.exp2),
    Power("Schraudolph", schraudolph),
    *(Power(f"order {order}", partial(_polynomial, coefficients(order)), order) for order in ORDERS),
    Power("syclade power of two", _sum_score, len(POWER)),
    Power("syclade factors", _factors),
)
