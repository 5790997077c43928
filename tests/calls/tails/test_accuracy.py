"""Tails of Poisson-binomial distributions against exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syclade.fallback.tails import arithmetic, blocked, grouped, pairs, tilt, tilted
from syclade.quality.oracle.tails import exact_tail, log_of, precise_log_tail
from tests.support.tails import error_of, random_case

TOLERANCE = 1e-12
LogTail = Callable[..., float]
THREE = {"grouped": grouped.log_tail, "tilted": tilted.log_tail, "blocked": blocked.log_tail}
three = pytest.mark.parametrize("log_tail", list(THREE.values()), ids=list(THREE))

_probability = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 1e-200, 1 - 2.0**-53]),
    st.floats(1e-12, 1.0),
    st.floats(-12, 0).map(lambda power: 10**power),
)
_groups = st.lists(st.tuples(_probability, st.integers(0, 6)), min_size=1, max_size=5)


@three
@settings(max_examples=150, deadline=None)
@given(groups=_groups, at_least=st.integers(-1, 31))
def test_equals_fractions(log_tail: LogTail, groups: list[tuple[float, int]], at_least: int) -> None:
    p, c = (list(one) for one in zip(*groups, strict=True))
    exact = log_of(exact_tail(p, c, at_least))
    found = log_tail(np.array(p), np.array(c), at_least)
    if exact.is_infinite():
        assert found == -math.inf
    else:
        assert found <= 0
        assert error_of(found, exact) <= TOLERANCE


@pytest.mark.parametrize("seed", range(10))
def test_equals_long_integers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        case = random_case(rng)
        exact = precise_log_tail(case.probabilities.tolist(), case.counts.tolist(), case.at_least)
        assert error_of(grouped.log_tail(*case), exact) <= TOLERANCE, case
        if case.counts.sum() < 5000:
            assert error_of(tilted.log_tail(*case), exact) <= TOLERANCE, case
        if case.counts.sum() < 1000:
            assert error_of(blocked.log_tail(*case, 100), exact) <= TOLERANCE, case


def test_oracles_agree() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        case = random_case(rng, 60)
        p, c = case.probabilities.tolist(), case.counts.tolist()
        exact = log_of(exact_tail(p, c, case.at_least))
        for bits, error in ((192, 1e-24), (320, 1e-48)):
            found = precise_log_tail(p, c, case.at_least, bits)
            assert abs(Fraction(found) - Fraction(exact)) < error


def test_very_small_tails() -> None:
    p, c, at_least = np.array([1e-4, 1e-3]), np.array([10_000, 2_000]), 9_500
    exact = precise_log_tail(p.tolist(), c.tolist(), at_least)
    assert float(exact) < -7e4
    assert error_of(grouped.log_tail(p, c, at_least), exact) <= TOLERANCE
    assert error_of(tilted.log_tail(p, c, at_least), exact) <= TOLERANCE


@three
def test_special_columns(log_tail: LogTail) -> None:
    one, trials = np.array([0.25]), np.array([10])
    assert log_tail(one, trials, 0) == 0
    assert log_tail(one, trials, -3) == 0
    assert log_tail(one, trials, 11) == -math.inf
    assert log_tail(one, trials, 10) == pytest.approx(10 * math.log(0.25), rel=1e-15)
    assert log_tail(np.array([0.0, 1.0]), np.array([5, 3]), 3) == 0
    assert log_tail(np.array([0.0, 1.0]), np.array([5, 3]), 4) == -math.inf
    assert log_tail(np.array([]), np.array([], dtype=np.int64), 0) == 0
    assert log_tail(np.array([]), np.array([], dtype=np.int64), 1) == -math.inf


def test_a_column_of_ten_million() -> None:
    p = 10 ** -np.arange(2.0, 4.0, 0.1)
    c = np.full(20, 500_000)
    for at_least, bits in ((10_000, 192), (30_000, 128)):  # the first one is the complement of 1e-41
        exact = precise_log_tail(p.tolist(), c.tolist(), at_least, bits)
        assert error_of(grouped.log_tail(p, c, at_least), exact) <= TOLERANCE


def test_order_and_splits_of_groups_do_not_matter() -> None:
    p, c = np.array([0.1, 0.01, 0.1, 0.3]), np.array([10, 20, 5, 0])
    assert grouped.log_tail(p, c, 7) == grouped.log_tail(np.array([0.01, 0.1]), np.array([20, 15]), 7)


def test_arithmetic() -> None:
    rng = np.random.default_rng(1)
    wide = np.exp(rng.uniform(-690, 690, 10_000))
    near = np.exp(rng.uniform(-1, 1, 10_000))
    for x in (wide, near):
        np.testing.assert_allclose(arithmetic.log(x), np.log(x), rtol=7e-16)
    y = rng.uniform(-0.9, 3, 10_000)
    np.testing.assert_allclose(arithmetic.log1p(y), np.log1p(y), rtol=7e-16)
    d = rng.uniform(-40, 0, 10_000)
    np.testing.assert_allclose(arithmetic.exp(d), np.exp(d), rtol=7e-16)
    a, b = rng.uniform(-100, 0, (2, 10_000))
    high, low = pairs.log_sum_exp((a, np.zeros_like(a)), (b, np.zeros_like(b)))
    np.testing.assert_allclose(high + low, np.logaddexp(a, b), rtol=7e-16, atol=7e-16)


def test_pairs_keep_what_rounding_loses() -> None:
    total = (np.zeros(1), np.zeros(1))
    for _ in range(10_000):
        total = pairs.add_to_pair(total, (np.full(1, 0.1), np.zeros(1)))
    exact = float(Fraction(0.1) * 10_000)
    assert (total[0] + total[1])[0] == exact
    assert total[0][0] != exact


def test_tilt_converges_over_two_hundred_decades() -> None:
    """Newton's method needs fewer steps than it has; probabilities of real columns span five decades."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        groups = int(rng.integers(1, 12))
        p = np.minimum(10 ** -rng.uniform(0, rng.choice([1, 6, 20, 200]), groups), 1 - 2.0**-53)
        counts = np.floor(10 ** rng.uniform(0, rng.choice([0.5, 3, 7]), groups))
        low, high = int(counts @ p) + 1, int(counts.sum()) - 1
        if low > high:
            continue
        at_least = int(rng.integers(low, high + 1))
        r = tilt.tilt_to(p, counts, at_least)
        assert float(counts @ (p / (p + (1 - p) * r))) == pytest.approx(at_least, rel=1e-8)
