"""Positive numbers of any size in integers (the mirror of `kernels/sums/numbers.py`)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import FRACTION_BITS

MANTISSA_BITS = 30
"""The mantissa of 1 is 2^30, and its exponent is 0."""

_TOP = MANTISSA_BITS + 1


class Numbers(NamedTuple):
    """Numbers mantissa * 2^(exponent - 30).

    Attributes:
        mantissa: int64, 2^30 ... 2^31 - 1, or 0.
        exponent: int64.
    """

    mantissa: NDArray[np.int64]
    exponent: NDArray[np.int64]

    def at(self, index: Any) -> "Numbers":
        """Return some of the numbers."""
        return Numbers(self.mantissa[index], self.exponent[index])

    def twice(self) -> "Numbers":
        """Return 2 * the numbers."""
        return Numbers(self.mantissa, self.exponent + 1)


def repeated(numbers: Numbers, count: int) -> Numbers:
    """Return each of some numbers (nodes,) a number of times, (nodes, count)."""
    return Numbers(*(np.repeat(one[:, None], count, axis=1) for one in numbers))


def ones(shape: tuple[int, ...]) -> Numbers:
    """Return ones."""
    return Numbers(np.full(shape, 1 << MANTISSA_BITS, dtype=np.int64), np.zeros(shape, dtype=np.int64))


def product(a: Numbers, b: Numbers) -> Numbers:
    """Return a * b, rounded down."""
    mantissa = (a.mantissa * b.mantissa) >> MANTISSA_BITS
    carry = mantissa >> _TOP
    return Numbers(mantissa >> carry, a.exponent + b.exponent + carry)


def total(a: Numbers, b: Numbers) -> Numbers:
    """Return a + b, rounded down."""
    exponent = np.maximum(a.exponent, b.exponent)
    below, above = (np.minimum(exponent - one.exponent, _TOP) for one in (a, b))
    mantissa = (a.mantissa >> below) + (b.mantissa >> above)
    carry = mantissa >> _TOP
    return Numbers(mantissa >> carry, exponent + carry)


def put(numbers: Numbers, at: int | NDArray[np.int64], values: Numbers) -> None:
    """Replace the numbers at an index, or at several."""
    numbers.mantissa[at], numbers.exponent[at] = values


def powers_of_two(
    exponent: NDArray[np.int64],  # IN in units of 2^-16
) -> Numbers:
    """Return 2^exponent: products of 2^(2^-k) for the bits k of the fraction."""
    whole = exponent >> FRACTION_BITS
    power = Numbers(np.full_like(exponent, 1 << MANTISSA_BITS), np.zeros_like(exponent))
    for k in range(1, FRACTION_BITS + 1):
        bit = (exponent >> (FRACTION_BITS - k)) & 1
        root = np.where(bit, _ROOTS[k], 1 << MANTISSA_BITS)
        power = product(power, Numbers(root, np.zeros_like(exponent)))
    return Numbers(power.mantissa, power.exponent + whole)


_ROOTS = [round(2.0 ** (MANTISSA_BITS + 2.0**-k)) for k in range(FRACTION_BITS + 1)]
