"""Prevalence of clones, with intervals, from the probabilities of the cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Prevalence", "beta_quantiles", "prevalence_of"]

INTERVAL = (0.05, 0.95)
"""Quantiles at the ends of an interval."""

_POINTS = 8001
"""Points of the integration of a density."""


@dataclass(frozen=True, eq=False)
class Prevalence:
    """Prevalence of each clone among all cells of the sampled tissue.

    Attributes:
        mean: float64, shape (clones,): expected share of the cells; the shares sum to 1.
        low, high: float64, shape (clones,): ends of the central 90 % of the posterior.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def prevalence_of(probability: NDArray[np.float64]) -> Prevalence:
    """Return the prevalence of clones.

    Given the number N of m cells that are of a clone, the posterior of its prevalence under Jeffreys' prior
    is Beta(N + 1/2, m - N + 1/2). N is a sum of independent draws with the cells' probabilities. The mixture
    over N is approximated by the beta distribution of the same mean and variance.

    Args:
        probability: float64, shape (clones, cells): probability of each clone for each cell.
    """
    cells = probability.shape[1]
    expected = probability.sum(axis=1)
    spread = (probability * (1.0 - probability)).sum(axis=1)  # variance of N
    mean = (expected + 0.5) / (cells + 1.0)
    inner = (expected + 0.5) * (cells - expected + 0.5) - spread
    variance = (inner / (cells + 2.0) + spread) / (cells + 1.0) ** 2
    weight = mean * (1.0 - mean) / variance - 1.0  # the sum of both parameters
    low, high = beta_quantiles(mean * weight, (1.0 - mean) * weight, INTERVAL)
    return Prevalence(np.asarray(expected / cells), low, high)


def beta_quantiles(
    a: NDArray[np.float64], b: NDArray[np.float64], shares: tuple[float, ...]
) -> list[NDArray[np.float64]]:
    """Return quantiles of beta distributions, with a relative error below 0.001.

    The density is integrated by the trapezoidal rule over the logit, in which it falls exponentially.

    Args:
        a, b: float64, shape (k,): parameters, above 0.
        shares: probabilities of the quantiles, inside (0, 1).

    Returns:
        float64, shape (k,), for each of `shares`.
    """
    found = [np.empty(len(a)) for _ in shares]
    for at, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        width = 12.0 * np.sqrt(1.0 / first + 1.0 / second)
        centre = np.log(first / second)
        logit = np.linspace(centre - width - 40.0 / first, centre + width + 40.0 / second, _POINTS)
        log_density = -first * np.logaddexp(0.0, -logit) - second * np.logaddexp(0.0, logit)
        density = np.exp(log_density - log_density.max())
        below = np.concatenate(([0.0], np.cumsum(density[1:] + density[:-1])))
        for number, share in enumerate(shares):
            found[number][at] = 1.0 / (1.0 + np.exp(-np.interp(share * below[-1], below, logit)))
    return found
