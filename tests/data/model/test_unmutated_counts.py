"""Counts of positions left out of the matrix: their terms in the prior of the rate of false positives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from syclade.host.data.model.rate_grid import RateGrid, RatePrior
from syclade.host.data.model.rate_model import RateModel, make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import OptionError

RATES = Rates(3.45e-3, 0.146)
COUNTS = st.tuples(st.integers(0, 10**9), st.integers(0, 10**5))


def grid_of(model: RateModel) -> RateGrid:
    assert model.fp is not None
    return model.fp


def model_of(counts: tuple[int, int] | None, **more: Any) -> RateModel:
    return make_rate_model(RATES, learn_fp=0.2, unmutated=counts, **more)


@given(st.floats(1e-6, 0.4), st.floats(0.01, 0.99), COUNTS)
def test_the_terms_are_those_of_the_definition(mean: float, part: float, counts: tuple[int, int]) -> None:
    """The density is that of scipy: the Beta prior with z0 ln(1 - α) + z1 ln α, up to a constant."""
    deviation = part * np.sqrt(mean * (1 - mean))
    prior = RatePrior("fp_rate", 0.2, mean, deviation, deviation / 10)
    with_counts = RateGrid(RatePrior("fp_rate", 0.2, mean, deviation, deviation / 10, counts), 0.5, 0.0, 64)
    rates, (zeros, ones) = with_counts.rates, counts
    terms = zeros * np.log1p(-rates) + ones * np.log(rates)
    expected = RateGrid(prior, 0.5, 0.0, 64).log_density + terms
    found = with_counts.log_density
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-4)
    if sum(counts) < 10**6 and prior.shapes[0] > 1e-6:
        a, b = prior.shapes
        np.testing.assert_allclose(found, stats.beta.logpdf(rates, a + ones, b + zeros), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("counts", [(1000, 10), (10**6, 3000), (10**9, 10**6), (10**12, 10**9), (10**6, 0)])
def test_the_grid_resolves_the_prior(counts: tuple[int, int]) -> None:
    """The grid has many points in each standard deviation, and all of the prior's mass."""
    grid = grid_of(model_of(counts))
    prior = grid.prior
    assert grid.spacing < prior.spread / 100
    assert prior.center == pytest.approx(stats.beta(*prior.shapes).mean(), rel=1e-9)
    assert prior.spread == pytest.approx(stats.beta(*prior.shapes).std(), rel=1e-6)
    mass = np.exp(grid.log_density - grid.log_density.max())
    mean = float((mass * grid.rates).sum() / mass.sum())
    assert mean == pytest.approx(prior.center, abs=0.1 * prior.spread)
    assert grid.rates[grid.start] == pytest.approx(prior.center, abs=grid.spacing)
    assert prior.step == pytest.approx(prior.spread / 10)


def test_without_counts_nothing_changes() -> None:
    for counts in (None, (0, 0)):
        grid, plain = grid_of(model_of(counts)), grid_of(make_rate_model(RATES, learn_fp=0.2))
        np.testing.assert_array_equal(grid.log_density, plain.log_density)
        np.testing.assert_array_equal(grid.rates, plain.rates)
        assert grid.prior == plain.prior
        assert "unmutated_counts" not in grid.prior.to_dict()


def test_a_given_step_stays() -> None:
    assert grid_of(model_of((10**4, 30), fp_step=2e-4)).prior.step == 2e-4


def test_counts_that_contradict_the_rates_are_refused() -> None:
    with pytest.raises(OptionError, match="--unmutated-counts 10 100000 leave no room"):
        model_of((10, 100_000))
