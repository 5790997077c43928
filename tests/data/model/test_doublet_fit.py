"""Rates that fit a tree with doublets: cells of two branches tell, and deep cells do not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from syclade.host.data.model.doublet_fit import best_share, fit_with_doublets
from syclade.host.data.model.doublets import mixture_of
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate

RATES = Rates(0.01, 0.15)
SEEDS = range(6)


@cache
def estimates(doublets: float | None, shares: str) -> tuple[float, float]:
    """Return the mean rate that is fitted to true trees, and that with equally probable nodes."""
    fitted, equal = [], []
    for seed in SEEDS:
        made = simulate(1000, 8, 0.01, 0.15, 0.1, 100 + seed, doublets=doublets, shares=shares)
        fitted.append(fit_with_doublets(made.matrix, made.parents, RATES, ()).doublets)
        equal.append(best_share(mixture_of(made.matrix, RATES, made.parents)))
    return float(np.mean(fitted)), float(np.mean(equal))


@pytest.mark.statistical
@pytest.mark.parametrize("shares", ["equal", "zipf"])
@pytest.mark.parametrize(("doublets", "expected"), [(None, 0.0), (0.1, 0.1), (0.2, 0.17)])
def test_the_rate_of_doublets_is_found(doublets: float | None, expected: float, shares: str) -> None:
    """The prior draws larger rates down a little, where few nodes are of two branches."""
    assert estimates(doublets, shares)[0] == pytest.approx(expected, abs=0.04)


@pytest.mark.statistical
def test_deep_cells_are_no_doublets() -> None:
    """With equally probable nodes, the negative control, clones of unequal sizes make a rate of their own."""
    fitted, equal = estimates(None, "zipf")
    assert fitted < 0.04
    assert equal > 0.1


def test_error_rates_are_fitted_beside_a_given_rate_of_doublets() -> None:
    made = simulate(1000, 8, 0.01, 0.15, 0.1, 100, doublets=0.1, shares="zipf")
    found = fit_with_doublets(made.matrix, made.parents, Rates(0.05, 0.3), ("fp_rate", "fn_rate"), 0.1)
    assert found.doublets == 0.1
    assert found.rates.fp_rate == pytest.approx(0.01, abs=0.005)  # type: ignore[union-attr]
    assert found.rates.fn_rate == pytest.approx(0.15, abs=0.03)  # type: ignore[union-attr]
