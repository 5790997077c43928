"""Agreement of visit frequencies with an exact posterior: total variation distance and goodness of fit.

Both tests need independent samples, so a chain must first be thinned.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIGNIFICANCE = 0.001
"""Significance of each of the two tests; a correct sampler fails about twice in a thousand fresh runs."""

POWER = 0.95
"""Probability of finding a deviation that is called detectable."""

LEAST_EXPECTED = 5.0
"""Minimum number of expected visits per cell of the chi-square test (Cochran 1954)."""


@dataclass(frozen=True)
class GoodnessOfFit:
    """Pearson's chi-square test; `cells` is the number of cells after pooling."""

    statistic: float
    cells: int
    p_value: float


@dataclass(frozen=True)
class Agreement:
    """Verdict on visit frequencies and the values behind it."""

    samples: int
    total_variation: float
    expected_total_variation: float
    """Expected distance of as many independent samples of the posterior."""
    total_variation_limit: float
    fit: GoodnessOfFit
    significance: float
    detectable_deviation: float
    """Result of the function `detectable_deviation` for these samples and cells."""
    holds: bool


def total_variation(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """Return ½ Σ |visits / samples - probability|, from 0 to 1; both arguments have shape (trees,)."""
    visits, exact = _checked(counts, probabilities)
    return float(0.5 * np.abs(visits / visits.sum() - exact).sum())


def expected_total_variation(probabilities: ArrayLike, samples: int) -> float:
    """Return the mean total variation distance of independent samples: ½ Σ sqrt(2 p (1 - p) / (π N)).

    Visit frequencies are treated as normal, with a mean absolute deviation of sqrt(2/π) standard deviations.
    """
    variances = _variances(probabilities, samples)
    return float(0.5 * np.sqrt(2 * variances / math.pi).sum())


def total_variation_limit(
    probabilities: ArrayLike, samples: int, significance: float = SIGNIFICANCE
) -> float:
    """Return the limit that the distance of independent samples exceeds with about this probability.

    It is the mean plus a normal quantile times the standard deviation ½ sqrt((1 - 2/π) Σ p (1 - p) / N),
    where the frequencies are treated as independent.
    """
    from scipy import stats

    deviation = 0.5 * math.sqrt((1 - 2 / math.pi) * float(_variances(probabilities, samples).sum()))
    return expected_total_variation(probabilities, samples) + float(stats.norm.isf(significance)) * deviation


def goodness_of_fit(
    counts: ArrayLike, probabilities: ArrayLike, least_expected: float = LEAST_EXPECTED
) -> GoodnessOfFit:
    """Test the visits by chi-square, with the improbable trees pooled into one cell.

    ValueError if fewer than two cells are left.
    """
    from scipy import stats

    visits, exact = _checked(counts, probabilities)
    observed, expected = _pooled(visits, exact * visits.sum(), least_expected)
    if len(expected) < 2:
        raise ValueError(f"{int(visits.sum())} samples are too few: all trees fall into one cell")
    result = stats.chisquare(observed, expected)
    return GoodnessOfFit(float(result.statistic), len(expected), float(result.pvalue))


def detectable_deviation(
    cells: int, samples: int, significance: float = SIGNIFICANCE, power: float = POWER
) -> float:
    """Return the smallest deviation that the chi-square test finds with this power.

    The deviation is the root mean square, over the posterior, of the relative error of a tree's probability
    (Cohen's w). The statistic then has a noncentral chi-square distribution with noncentrality N w².
    """
    from scipy import optimize, stats

    freedom = cells - 1
    critical = stats.chi2.isf(significance, freedom)
    noncentrality = optimize.brentq(
        lambda shift: stats.ncx2.sf(critical, freedom, shift) - power, 1e-9, 100 + 10 * critical
    )
    return math.sqrt(float(noncentrality) / samples)


def verdict(counts: ArrayLike, probabilities: ArrayLike, significance: float = SIGNIFICANCE) -> Agreement:
    """Test whether independent samples, counted by tree, are from the posterior: neither test may reject.

    `counts`: visits, shape (trees,), of thinned samples; `probabilities`: the posterior, same shape, sum 1.
    ValueError on shapes, negative counts, no samples, or probabilities that do not sum to 1.
    """
    visits, exact = _checked(counts, probabilities)
    samples = int(visits.sum())
    distance = total_variation(visits, exact)
    limit = total_variation_limit(exact, samples, significance)
    fit = goodness_of_fit(visits, exact)
    return Agreement(
        samples=samples,
        total_variation=distance,
        expected_total_variation=expected_total_variation(exact, samples),
        total_variation_limit=limit,
        fit=fit,
        significance=significance,
        detectable_deviation=detectable_deviation(fit.cells, samples, significance),
        holds=distance <= limit and fit.p_value >= significance,
    )


def _pooled(
    observed: NDArray[np.float64], expected: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pool the least probable cells, so that each cell expects at least `least` visits."""
    order = np.argsort(expected, kind="stable")
    observed, expected = observed[order], expected[order]
    pool = int(np.searchsorted(expected, least))
    while 0 < pool < len(expected) and expected[:pool].sum() < least:
        pool += 1
    if pool == 0:
        return observed, expected
    return (
        np.concatenate([[observed[:pool].sum()], observed[pool:]]),
        np.concatenate([[expected[:pool].sum()], expected[pool:]]),
    )


def _variances(probabilities: ArrayLike, samples: int) -> NDArray[np.float64]:
    """Return the variance of every tree's visit frequency in independent samples."""
    exact = np.asarray(probabilities, dtype=np.float64)
    return np.asarray(exact * (1 - exact) / samples, dtype=np.float64)


def _checked(counts: ArrayLike, probabilities: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    visits = np.asarray(counts, dtype=np.float64)
    exact = np.asarray(probabilities, dtype=np.float64)
    if visits.ndim != 1 or visits.shape != exact.shape:
        raise ValueError(f"one count per tree, not {visits.shape} for {exact.shape}")
    if not (visits >= 0).all() or not visits.sum() > 0:
        raise ValueError("counts are not negative and not all 0")
    if not (exact >= 0).all() or abs(exact.sum() - 1) > 1e-9:
        raise ValueError("probabilities are not negative and sum to 1")
    return visits, exact
