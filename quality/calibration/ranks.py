"""Simulation-based calibration: the rank of the truth among samples of the posterior is uniform.

Source: Talts, Betancourt, Simpson, Vehtari, Gelman, "Validating Bayesian inference algorithms with
simulation-based calibration", 2018.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BINS", "DRAWS", "rank_of", "spread_out", "uniformity"]

DRAWS = 63
"""Samples that the truth is ranked among: ranks are 0 ... 63."""

BINS = 8
"""Bins of ranks, of equal width."""


def spread_out(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `DRAWS` values at equal distances along the chains: float64, shape (DRAWS,).

    Args:
        values: float64, shape (chains, samples), with at least `DRAWS` values in all.
    """
    flat = values.ravel()
    assert flat.size >= DRAWS, "there are fewer samples than draws"
    return np.asarray(flat[np.linspace(0, flat.size - 1, DRAWS).round().astype(np.int64)])


def rank_of(truth: float, draws: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Return the number of draws below the truth; among equal ones, its place is drawn at random."""
    below, equal = int((draws < truth).sum()), int((draws == truth).sum())
    return below + int(rng.integers(0, equal + 1))


def uniformity(ranks: Sequence[int]) -> float:
    """Return the p-value of a chi-square test that ranks 0 ... `DRAWS` are uniform, in `BINS` bins."""
    from scipy import stats

    counts = np.bincount(np.asarray(ranks) * BINS // (DRAWS + 1), minlength=BINS)
    return float(stats.chisquare(counts).pvalue)
