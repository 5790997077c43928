"""Tails of Poisson-binomial distributions: exact fractions, and long integers for large columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

__all__ = ["exact_tail", "log_of", "precise_log_tail"]

DIGITS = 60


def exact_tail(probabilities: Sequence[float], counts: Sequence[int], at_least: int) -> Fraction:
    """Return P(X ≥ at_least) as a fraction, by the definition: one trial after another."""
    distribution = [Fraction(1)]
    for probability, count in zip(probabilities, counts, strict=True):
        hit = Fraction(probability)
        for _ in range(count):
            stay = [one * (1 - hit) for one in distribution] + [Fraction(0)]
            come = [Fraction(0)] + [one * hit for one in distribution]
            distribution = [a + b for a, b in zip(stay, come, strict=True)]
    return sum(distribution[max(at_least, 0) :], Fraction(0))


def log_of(number: Fraction) -> Decimal:
    """Return the natural logarithm of a fraction ≥ 0, to DIGITS digits."""
    if number == 0:
        return Decimal("-Infinity")
    with localcontext() as context:
        context.prec = DIGITS
        if abs(number - 1) < Fraction(1, 1000):
            return _log_near_1(number - 1)
        return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def _log_near_1(y: Fraction) -> Decimal:
    """Return ln(1 + y) by its series, since the difference of two logarithms would lose digits."""
    x, total, power = Decimal(y.numerator) / Decimal(y.denominator), Decimal(0), Decimal(1)
    for n in range(1, DIGITS):
        power *= x
        total += power / n if n % 2 else -power / n
    return total


def precise_log_tail(
    probabilities: Sequence[float], counts: Sequence[int], at_least: int, bits: int = 192
) -> Decimal:
    """Return ln P(X ≥ at_least) with numbers of `bits` binary digits after the point.

    Integers stand for multiples of 2^-bits. The distribution is tilted so that its mean is about K; entries
    below 2^-(bits − 50) are dropped. The error of ln P is about 2^-(bits − 60).

    Args:
        probabilities: each in (0, 1).
        counts: trials with each probability.
        at_least: K, 0 < K ≤ Σ counts.
        bits: precision.
    """
    with localcontext() as context:
        context.prec = DIGITS
        return _precise(probabilities, counts, at_least, bits)


def _precise(probabilities: Sequence[float], counts: Sequence[int], at_least: int, bits: int) -> Decimal:
    r = _tilt(probabilities, counts, at_least)
    first, window = 0, [1 << bits]
    scale = at_least * log_of(r)
    for probability, count in sorted(zip(probabilities, counts, strict=True), key=lambda one: one[1]):
        p = Fraction(probability)
        below = p + (1 - p) * r
        scale += count * log_of(below / r)
        begin, weights = _binomial(count, p / below, bits)
        first, window = _trim(first + begin, _product(window, weights, bits), bits)
    total, ratio = 0, (r.numerator << bits) // r.denominator
    for weight in reversed(window[max(at_least - first, 0) :]):
        total = (total * ratio >> bits) + weight
    return scale + log_of(Fraction(total, 1 << bits))


def _tilt(probabilities: Sequence[float], counts: Sequence[int], at_least: int) -> Fraction:
    """Return r = e^-t with a tilted mean of about K, by bisection of t; 1 if the mean is not below K."""

    def mean(t: float) -> float:
        return math.fsum(
            c / (1 + (1 - p) / p * math.exp(-t)) for p, c in zip(probabilities, counts, strict=True)
        )

    low, high = 0.0, 500.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < at_least else (low, middle)
    return Fraction(math.exp(-low))


def _binomial(count: int, p: Fraction, bits: int) -> tuple[int, list[int]]:
    """Return the first k and the probabilities, in units of 2^-bits, of a binomial distribution's window."""
    mode = min(count, math.floor((count + 1) * p))
    odds, unit = (((p / (1 - p)).numerator << bits) // (p / (1 - p)).denominator), 1 << bits
    right, left = [unit], [unit]
    for k in range(mode, count):
        right.append(right[-1] * odds * (count - k) // (k + 1) >> bits)
        if not right[-1]:
            break
    for k in range(mode, 0, -1):
        left.append((left[-1] * k << bits) // (odds * (count - k + 1)))
        if not left[-1]:
            break
    weights = left[:0:-1] + right
    total = sum(weights)
    return _trim(mode - len(left) + 1, [(one << bits) // total for one in weights], bits)


def _product(one: list[int], other: list[int], bits: int) -> list[int]:
    """Return the convolution of two lists, by one product of long integers (Kronecker's substitution)."""
    width = (2 * bits + max(len(one), len(other)).bit_length()) // 8 + 1
    a, b = (
        int.from_bytes(b"".join(value.to_bytes(width, "little") for value in values), "little")
        for values in (one, other)
    )
    size = len(one) + len(other) - 1
    raw = (a * b).to_bytes(size * width, "little")
    return [int.from_bytes(raw[at : at + width], "little") >> bits for at in range(0, size * width, width)]


def _trim(first: int, weights: list[int], bits: int) -> tuple[int, list[int]]:
    """Return the window without entries below 2^-(bits − 50) at its ends."""
    least = 1 << 50
    kept = [at for at, weight in enumerate(weights) if weight >= least]
    return first + kept[0], weights[kept[0] : kept[-1] + 1]
