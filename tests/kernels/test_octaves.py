"""Bounds of sums of powers whose octave or exponents change: never too small, and close where they matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.kernels.scores.octaves import capped, carried, scaled, upper_of_sum
from syclade.kernels.scores.powers import FRACTION_BITS, POWER, logarithm_of_two, power_of_two

CELLS = 500
FORMS = [(16, 0, 7), (16, 0, 64), (13, 2, 201), (4, 3, 501), (16, 4, 1024)]
"""Fraction bits, spare bits, number of terms."""

SPREADS = (1, 4, 12, 30, 60)
"""Octaves over which the exponents of a cell spread."""

SHIFTS = (0, 1, 3, 20, 45)


def int32(value: Any) -> Any:
    return np.int32(value)


def exponents(rng: np.random.Generator, count: int, fraction: int, spread: int) -> NDArray[np.int32]:
    """Return int32, shape (count, CELLS)."""
    within = spread << fraction
    return rng.integers(-within, within + 1, (count, CELLS), dtype=np.int32)


def total(scores: NDArray[np.int32], octave: NDArray[np.int32], fraction: int, spare: int) -> Any:
    """Return the sum of the terms, int32, shape (CELLS,)."""
    return power_of_two(scores, octave, int32(fraction), int32(spare)).sum(axis=0, dtype=np.int32)


def octaves_of(scores: NDArray[np.int32], fraction: int) -> Any:
    """Return the whole octave of each cell's best score, int32, shape (CELLS,)."""
    return scores.max(axis=0) >> int32(fraction)


@pytest.mark.parametrize(("fraction", "spare", "count"), FORMS)
def test_a_sum_in_another_octave_is_never_above_its_bound(fraction: int, spare: int, count: int) -> None:
    """Also check that what was rounded off matters: without it, many bounds are too small."""
    rng = np.random.default_rng(count)
    too_small = 0
    for spread in SPREADS:
        scores = exponents(rng, count - 1, fraction, spread)  # one term at least is shifted
        least = octaves_of(scores, fraction)
        for rise, fall in ((0, 0), (1, 0), (17, 0), (40, 0), (0, 1), (0, 9), (0, 30), (0, 50)):
            new, old = least + int32(rise), least + int32(fall)
            exact = total(scores, new, fraction, spare)
            before = exact if rise == fall else total(scores, old, fraction, spare)
            bound = carried(before, int32(count - 1), old, new, int32(spare))
            assert np.all(bound >= exact)
            if rise == fall:
                np.testing.assert_array_equal(bound, exact)
            if rise == 0 and fall == 1:
                assert np.all(bound - exact <= 2 * count)
            too_small += int(np.sum((before.astype(np.int64) << fall) < exact))
    assert too_small > CELLS


@pytest.mark.parametrize(("fraction", "spare", "count"), FORMS)
def test_a_shifted_sum_is_never_above_its_bound(fraction: int, spare: int, count: int) -> None:
    """Also check that the bound is within 1e-3 where no precision is lost, and within count-fold anywhere."""
    rng = np.random.default_rng(count)
    terms = count - 1
    for spread in SPREADS:
        scores = exponents(rng, terms, fraction, spread)
        old = octaves_of(scores, fraction) + rng.integers(0, 3, CELLS, dtype=np.int32)
        before = total(scores, old, fraction, spare)
        for most in SHIFTS:
            shift = exponents(rng, 1, fraction, most)[0]
            shifted = scores + shift
            best = shifted.max(axis=0)
            new = (best >> int32(fraction)) + rng.integers(0, 3, CELLS, dtype=np.int32)
            exact = total(shifted, new, fraction, spare)
            bound = scaled(before, int32(terms), shift, new - old, int32(fraction))
            found = capped(bound, int32(terms), best, new, int32(fraction), int32(spare))
            assert np.all(found >= exact)
            precise = before > 2**14 * terms
            assert np.all((found <= exact * 1.001 + terms)[precise])
            assert np.all(found <= (exact.astype(np.int64) + 1) * 4 * terms)


@pytest.mark.parametrize("fraction", [1, 7, 15, 16])
def test_the_bound_of_a_logarithm_is_close(fraction: int) -> None:
    """Check all mantissas of 15 bits at every number of bits; from 16 bits on the bound is close."""
    x = np.arange(1, 2**15 + 1, dtype=np.int64)
    largest = 2**30 + (x << 15) - 1  # the largest number with each mantissa
    spare = int32(24)  # so that units are those of the logarithm
    for bits in range(31):
        number = np.unique(np.maximum(largest >> (30 - bits), 1)).astype(np.int32)
        best = np.full(number.shape, -(3 << fraction), np.int32)
        bound = upper_of_sum(best, number, int32(fraction), spare).astype(np.int64) + (3 << fraction)
        exact = logarithm_of_two(number, np.int64(fraction))
        assert np.all(bound >= exact)
        if bits >= 15:
            assert np.all(bound - exact <= 2 + (7 << fraction >> 15))


def test_powers_and_logarithms_are_monotone() -> None:
    """The screen needs both: a greater exponent gives no smaller term, a greater sum no smaller score."""
    fractions = np.arange(2**FRACTION_BITS + 1, dtype=np.int32)
    powers = power_of_two(fractions, np.ones_like(fractions), int32(FRACTION_BITS), int32(0))
    assert np.all(np.diff(powers) >= 0)
    assert powers[-1] == 2**24
    mantissas = np.arange(2**20, dtype=np.int64)
    numbers = np.append(2**30 + (mantissas << 10), 2**31 - 1).astype(np.int32)
    for fraction in range(1, FRACTION_BITS + 1):
        logarithms = logarithm_of_two(numbers, np.int64(fraction))
        assert np.all(np.diff(logarithms) >= 0)
        assert logarithms[0] == 30 << fraction
        assert logarithms[-1] <= 31 << fraction


def test_the_margin_covers_the_errors_of_powers() -> None:
    """A factor of `scaled` is off by the errors of three powers: of the shift, of a term before and after."""
    x = np.arange(2**FRACTION_BITS, dtype=np.int64)
    part = np.zeros_like(x)
    for coefficient in POWER:
        part = coefficient + (x * part >> FRACTION_BITS)
    error = (2**24 + (x * part >> 7)) / np.exp2(24 + x / 2**FRACTION_BITS) - 1
    assert (1 + error.max()) / (1 + error.min()) < 1 + 16 / 2**18  # at least 16/2^17 is to spare for two
