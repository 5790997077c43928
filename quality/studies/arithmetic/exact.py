"""Exact powers of two and logarithms, in whole numbers and decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

__all__ = ["EXACT_BITS", "exact_powers", "largest_log_error", "largest_power_error"]

EXACT_BITS = 100
"""Exact powers are in units of 2^-100; their error is below 2^-90."""

DIGITS = 30
"""Decimal digits of exact logarithms."""


def exact_powers(bits: int) -> list[int]:
    """Return 2^(k / 2^bits) in units of 2^-100, k = 0 … 2^bits - 1: products of square roots of two."""
    roots, root = [], 2 << EXACT_BITS
    for _ in range(bits):
        root = math.isqrt(root << EXACT_BITS)
        roots.append(root)
    powers = [1 << EXACT_BITS]
    for root in reversed(roots):  # the exponent of each root is as long as the list
        powers += [power * root >> EXACT_BITS for power in powers]
    return powers


def largest_power_error(mantissas: Sequence[int], bits: int, exact: Sequence[int]) -> float:
    """Return the largest relative error of powers, in units of 2^-bits, against exact ones."""
    shift = EXACT_BITS - bits
    return max(abs((found << shift) - power) / power for found, power in zip(mantissas, exact, strict=True))


def largest_log_error(numbers: Sequence[int], logarithms: Sequence[float]) -> float:
    """Return the largest error of log2 of whole numbers, in octaves."""
    with localcontext() as context:
        context.prec = DIGITS
        two = Decimal(2).ln()
        return max(
            abs(float(Decimal(found) - Decimal(number).ln() / two))
            for number, found in zip(numbers, logarithms, strict=True)
        )
