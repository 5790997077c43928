"""Equivalence test: hand-computed figures, the thesis's setting, and programs that must fail it."""

import math

import numpy as np
import pytest
from scipy import stats

from syclade.quality.tost.test import Differences, delta, detectable_shift, failing_shift, tost

MARGIN = delta(1e-6, 0.25)
SCITE = np.random.default_rng(1).normal(-900, 40, 64)


def like_the_thesis() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return 64 scores: 47 equal, 10 better, 7 worse, by one bit flip, except one each by two."""
    flips = np.repeat([0, 1, 2, -1, -2], [47, 9, 1, 6, 1])
    return SCITE + MARGIN * np.random.default_rng(2).permutation(flips)


def test_delta_is_the_largest_effect_of_a_flip() -> None:
    assert delta(1e-6, 0.25) == pytest.approx(math.log(0.75) - math.log(1e-6))
    assert delta(0.3, 1e-4) == pytest.approx(math.log(0.7) - math.log(1e-4))
    for rates in [(0, 0.1), (0.1, 1.0), (math.nan, 0.1)]:
        with pytest.raises(ValueError, match="between"):
            delta(*rates)


def test_the_setting_of_the_thesis_is_equivalent() -> None:
    result = tost(Differences.between(like_the_thesis(), SCITE), MARGIN)
    assert (result.inputs, result.equal, result.better, result.worse) == (64, 47, 10, 7)
    assert result.mean_flips == pytest.approx(3 / 64)
    assert result.mean == pytest.approx(3 / 64 * MARGIN)
    assert result.equivalent
    assert result.non_inferior
    # The thesis prints a mean of 0.65, p- = 9.47e-21 and p+ = 7.87e-19.
    assert 1e-22 < result.p_worse < 1e-19 < result.p_better < 1e-17
    assert result.note == ""


def test_mean_of_the_thesis_follows_from_its_p_values() -> None:
    """Check the figures of docs/thesis.md: the printed p-values give mean and deviation in nats."""
    low, high = stats.t.isf([9.47e-21, 7.87e-19], 63)
    error = 2 * MARGIN / (low + high)
    mean, deviation = low * error - MARGIN, 8 * error
    assert [low, high] == pytest.approx([13.627, 12.382], abs=5e-4)
    assert [error, mean, deviation] == pytest.approx([1.0402, 0.648, 8.322], abs=5e-4)
    assert (63 * deviation**2 + 64 * mean**2) / MARGIN**2 == pytest.approx(24.0, abs=0.05)
    assert [whole * MARGIN / 64 for whole in (3, 4)] == pytest.approx([0.634, 0.845], abs=1e-3)
    shape = stats.zscore(like_the_thesis() - SCITE, ddof=1)
    result = tost(Differences.between(SCITE + mean + deviation * shape, SCITE), MARGIN)
    assert [result.p_worse, result.p_better] == pytest.approx([9.47e-21, 7.87e-19], rel=1e-9, abs=0)


def test_p_values_are_those_of_the_formula() -> None:
    differences = Differences.between([1.0, -0.5, 0.25, 2.0, 0.0], np.zeros(5))
    result = tost(differences, 1.5)
    error = differences.deviation / math.sqrt(5)
    assert result.p_worse == pytest.approx(stats.t.sf((differences.mean + 1.5) / error, 4))
    assert result.p_better == pytest.approx(stats.t.cdf((differences.mean - 1.5) / error, 4))


@pytest.mark.parametrize("shift", [1.1, 1.0, -1.0, -1.1])
def test_a_shift_of_a_bit_flip_fails(shift: float) -> None:
    result = tost(Differences.between(like_the_thesis() + shift * MARGIN, SCITE), MARGIN)
    assert not result.equivalent
    assert result.non_inferior == (shift > 0)


def test_programs_too_erratic_to_tell_fail() -> None:
    noise = np.random.default_rng(3).normal(0, 30 * MARGIN, 64)
    result = tost(Differences.between(SCITE + noise, SCITE), MARGIN)
    assert not result.equivalent
    assert result.failing_shift == 0


def test_much_better_is_not_equivalent_but_not_inferior() -> None:
    result = tost(Differences.between(like_the_thesis() + 50, SCITE), MARGIN)
    assert not result.equivalent
    assert result.non_inferior


@pytest.mark.parametrize(
    ("shift", "equivalent", "non_inferior"),
    [(0, True, True), (1e-9, True, True), (20, False, True), (-20, False, False)],
)
def test_equal_differences_have_no_t_statistic(shift: float, equivalent: bool, non_inferior: bool) -> None:
    result = tost(Differences.between(SCITE + shift, SCITE), MARGIN)
    assert (result.equivalent, result.non_inferior) == (equivalent, non_inferior)
    assert "no t-statistic" in result.note
    assert {result.p_worse, result.p_better} <= {0.0, 1.0}


def test_tolerance_of_equal() -> None:
    result = tost(Differences.between([5e-7, -5e-7, 2e-6, -2e-6], np.zeros(4)), MARGIN)
    assert (result.equal, result.better, result.worse) == (2, 1, 1)


@pytest.mark.parametrize(
    ("ours", "reference"),
    [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, math.nan], [1.0, 2.0]), ([[1.0, 2.0]], [[1.0, 2.0]])],
)
def test_what_cannot_be_compared_is_refused(ours: list[float], reference: list[float]) -> None:
    with pytest.raises(ValueError, match=r"log-likelihood|two inputs"):
        Differences.between(ours, reference)


def test_a_margin_is_positive() -> None:
    with pytest.raises(ValueError, match="margin"):
        tost(Differences.between([0.0, 1.0], [0.0, 0.0]), 0.0)


@pytest.mark.statistical
def test_shifts_are_detected_as_often_as_promised() -> None:
    inputs, deviation, margin, repeats = 16, 2.0, 3.0, 4000
    noise = np.random.default_rng(6).normal(0, deviation, (repeats, inputs))
    critical = stats.t.isf(0.01, inputs - 1)

    def statistic(shift: float, against: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        sample = noise + shift
        error = sample.std(axis=1, ddof=1) / math.sqrt(inputs)
        return np.asarray((sample.mean(axis=1) - against) / error)

    found = statistic(detectable_shift(deviation, inputs, 0.01, 0.9), 0.0) > critical
    assert found.mean() == pytest.approx(0.9, abs=0.02)
    shift = failing_shift(margin, deviation, inputs, 0.01, 0.9)
    assert 0 < shift < margin
    passed = (statistic(shift, -margin) > critical) & (statistic(shift, margin) < -critical)
    assert passed.mean() == pytest.approx(0.1, abs=0.02)
