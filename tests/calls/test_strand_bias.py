"""Strand bias: Fisher's exact test against scipy's, and the correction of Benjamini and Hochberg."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, fisher_exact

from syclade.host.calls.p_values import fisher_log_p, is_one_sided, rejected

COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT, COUNT)
def test_fishers_test_is_scipys(a: int, b: int, c: int, d: int) -> None:
    expected = fisher_exact([[a, b], [c, d]])[1]
    assert math.exp(fisher_log_p(a, b, c, d)) == pytest.approx(expected, rel=1e-9)


def test_tails_beyond_float64_have_a_value() -> None:
    log_p = fisher_log_p(40000, 10, 10, 40000)
    assert -60000 < log_p < -50000
    assert fisher_log_p(0, 0, 500, 0) == fisher_log_p(0, 0, 0, 0) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.5))
def test_rejections_are_those_of_adjusted_p_values(p_values: list[float], alpha: float) -> None:
    adjusted = false_discovery_control(p_values)
    found = rejected(p_values, alpha)
    for one, is_rejected in zip(adjusted, found, strict=True):
        assert is_rejected == (one <= alpha) or one == pytest.approx(alpha)


def test_one_sided_is_more_than_85_percent() -> None:
    assert is_one_sided(86, 14)
    assert not is_one_sided(85, 15)
    assert is_one_sided(0, 3)
    assert not is_one_sided(0, 0)
