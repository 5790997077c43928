"""A learned error rate: its prior, and the grid on which it moves, with the prior density at each grid point.

A grid is uniform in the rate. Weights and priors are then tables of integers, the same on every device
(docs/model.md, "Learned rates").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import JsonObject
from syclade.kernels.rates.arguments import JUMPS

__all__ = ["RateGrid", "RatePrior"]

POINTS = 2**13
"""Points of a grid: on a grid of 20 standard deviations of the prior, each of these has about 400."""


@dataclass(frozen=True)
class RatePrior:
    """Options of a learned rate.

    Attributes:
        name: fn_rate, fp_rate or doublets.
        probability: probability that a step is a jump of this rate, inside (0, 1).
        mean, deviation: mean and standard deviation of the Beta prior.
        step: standard deviation of a jump.
        counts: of the rate of false positives, observations of 0 and of 1 at positions that were left out of
            the matrix. They change the Beta prior to another one.
    """

    name: str
    probability: float
    mean: float
    deviation: float
    step: float
    counts: tuple[int, int] = (0, 0)

    @property
    def shapes(self) -> tuple[float, float]:
        """Shape parameters a and b of the Beta distribution, counts included."""
        a = (1.0 - self.mean) * self.mean**2 / self.deviation**2 - self.mean
        zeros, ones = self.counts
        return a + ones, a * (1.0 / self.mean - 1.0) + zeros

    @property
    def center(self) -> float:
        """Mean of the Beta distribution, counts included."""
        a, b = self.shapes
        return a / (a + b) if any(self.counts) else self.mean

    @property
    def spread(self) -> float:
        """Standard deviation of the Beta distribution, counts included."""
        a, b = self.shapes
        return math.sqrt(a * b / (a + b + 1.0)) / (a + b) if any(self.counts) else self.deviation

    def to_dict(self) -> JsonObject:
        """Return the options as plain values."""
        found: JsonObject = {
            "probability": self.probability,
            "prior_mean": self.mean,
            "prior_sd": self.deviation,
            "step_sd": self.step,
        }
        return found | ({"unmutated_counts": list(self.counts)} if any(self.counts) else {})


@dataclass(frozen=True, eq=False)
class RateGrid:
    """The grid of values that a rate can take.

    Attributes:
        prior: options of the rate.
        end: upper bound, half a spacing above the greatest rate.
        begin: lower bound, half a spacing below the smallest rate.
        points: number of rates.
    """

    prior: RatePrior
    end: float
    begin: float = 0.0
    points: int = POINTS

    @property
    def spacing(self) -> float:
        """Distance between neighbouring points."""
        return (self.end - self.begin) / self.points

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Rate at every point: float64, shape (points,)."""
        return self.begin + (np.arange(self.points) + 0.5) * self.spacing

    @cached_property
    def log_density(self) -> NDArray[np.float64]:
        """Log density of the prior at every point, natural logarithm: float64, shape (points,)."""
        a, b = self.prior.shapes
        normal = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return normal + (a - 1.0) * np.log(self.rates) + (b - 1.0) * np.log1p(-self.rates)

    @cached_property
    def jumps(self) -> NDArray[np.int64]:
        """Lengths of jumps, equally probable: int64, shape (JUMPS,).

        They are quantiles of a half-normal distribution, at least 1.
        """
        from statistics import NormalDist  # slow to import

        steps = NormalDist(0.0, self.prior.step / self.spacing)
        lengths = [steps.inv_cdf(0.5 + (at + 0.5) / (2 * JUMPS)) for at in range(JUMPS)]
        return np.clip(np.rint(lengths), 1, self.points - 1).astype(np.int64)

    @property
    def start(self) -> int:
        """Point of the prior's mean."""
        return min(self.points - 1, max(0, int((self.prior.center - self.begin) / self.spacing)))
