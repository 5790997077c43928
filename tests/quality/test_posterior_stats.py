"""Checks of visit frequencies: correct samples pass; biased, stuck and correlated ones fail."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.quality.posterior import stats as statistics

SAMPLES = 50_000
# As skewed as the posterior of four mutations: 125 trees, weights from e^0 to e^-9.
POSTERIOR = np.exp(-9 * np.random.default_rng(0).random(125))
POSTERIOR /= POSTERIOR.sum()

pytestmark = pytest.mark.statistical


def visits(probabilities: NDArray[np.float64], seed: int, samples: int = SAMPLES) -> NDArray[np.int64]:
    return np.random.default_rng(seed).multinomial(samples, probabilities)


def test_total_variation_by_hand() -> None:
    assert statistics.total_variation([3, 1], [0.5, 0.5]) == pytest.approx(0.25)
    assert statistics.total_variation([0, 4], [1.0, 0.0]) == 1
    assert statistics.expected_total_variation([0.5, 0.5], 100) == pytest.approx(
        math.sqrt(0.5 / (math.pi * 100))
    )


def test_expected_total_variation_is_the_mean_and_the_limit_is_rarely_passed() -> None:
    distances = np.array(
        [statistics.total_variation(visits(POSTERIOR, seed), POSTERIOR) for seed in range(400)]
    )
    assert distances.mean() == pytest.approx(
        statistics.expected_total_variation(POSTERIOR, SAMPLES), rel=0.02
    )
    assert (distances > statistics.total_variation_limit(POSTERIOR, SAMPLES, 0.05)).mean() < 0.1


def test_right_samples_hold() -> None:
    agreements = [statistics.verdict(visits(POSTERIOR, seed), POSTERIOR) for seed in range(100)]
    assert sum(agreement.holds for agreement in agreements) >= 99
    p_values = np.array([agreement.fit.p_value for agreement in agreements])
    assert 0.4 < p_values.mean() < 0.6


def test_wrong_temperature_fails() -> None:
    """A gamma that is off by 5 % gives the posterior of another chain."""
    biased = POSTERIOR**0.95
    assert not statistics.verdict(visits(biased / biased.sum(), 1), POSTERIOR).holds


def test_greedy_chain_fails() -> None:
    counts = np.zeros(len(POSTERIOR))
    counts[np.argmax(POSTERIOR)] = SAMPLES
    agreement = statistics.verdict(counts, POSTERIOR)
    assert not agreement.holds
    assert agreement.total_variation > agreement.total_variation_limit


def test_impossible_tree_fails() -> None:
    exact = np.array([0.5, 0.5, 0.0])
    assert statistics.verdict([500, 500, 0], exact).holds
    assert not statistics.verdict([450, 450, 100], exact).holds


def test_deviation_is_detected_as_often_as_promised() -> None:
    samples, cells = 20_000, 20
    uniform = np.full(cells, 1 / cells)
    size = statistics.detectable_deviation(cells, samples, significance=0.01, power=0.9)
    other = uniform * (1 + size * np.tile([1, -1], cells // 2))
    found = [
        statistics.goodness_of_fit(visits(other, seed, samples), uniform).p_value < 0.01
        for seed in range(600)
    ]
    assert np.mean(found) == pytest.approx(0.9, abs=0.04)


def test_small_cells_are_pooled() -> None:
    exact = np.array([0.4, 0.001, 0.594, 0.002, 0.003])
    fit = statistics.goodness_of_fit([400, 2, 592, 1, 5], exact)  # the pool expects 6 of 1000 samples
    assert fit.cells == 3
    assert fit.statistic == pytest.approx((8 - 6) ** 2 / 6 + (592 - 594) ** 2 / 594)
    # With 600 samples the pool expects 3.6, so it takes in the next cell.
    assert statistics.goodness_of_fit([240, 1, 357, 1, 1], exact).cells == 2
    with pytest.raises(ValueError, match="too few"):
        statistics.goodness_of_fit([2, 0, 1, 0, 0], exact)


def test_correlated_samples_fail_and_thinned_ones_hold() -> None:
    """The walk keeps its tree with probability 0.9, otherwise it draws one from the correct posterior."""
    draw = np.random.default_rng(8)
    moves = draw.random(1_000_000) < 0.1
    moves[0] = True
    fresh = draw.choice(len(POSTERIOR), size=int(moves.sum()), p=POSTERIOR)
    walk = fresh[np.cumsum(moves) - 1]

    def counts(samples: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(samples, minlength=len(POSTERIOR))

    assert not statistics.verdict(counts(walk), POSTERIOR).holds
    interval = 4 * 19  # four autocorrelation times, (1 + 0.9) / (1 - 0.9)
    assert statistics.verdict(counts(walk[::interval]), POSTERIOR).holds


@pytest.mark.parametrize(
    ("counts", "probabilities"),
    [
        ([1, 2], [1.0]),
        ([-1, 2], [0.5, 0.5]),
        ([0, 0], [0.5, 0.5]),
        ([1, 2], [0.5, 0.4]),
        ([1, 2], [1.5, -0.5]),
    ],
)
def test_what_is_no_distribution_is_refused(counts: list[int], probabilities: list[float]) -> None:
    with pytest.raises(ValueError, match=r"count|probabilities"):
        statistics.verdict(counts, probabilities)
