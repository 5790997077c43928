"""Learned error rates: their priors, the grids on which they move, and integer tables of all grid points.

A grid is uniform in the rate. Weights and priors are then tables of integers, the same on every device
(docs/model.md, "Learned rates"). A weight is the sum of a part from the false-negative rate and a part from
the false-positive rate, each rounded once. Fixed rates have one point, whose weights are rounded as a whole.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import JsonObject, short_repr
from syclade.kernels.rates.arguments import FN, FP, JUMPS

if TYPE_CHECKING:
    from syclade.host.data.model.rate_model import Places, RateModel

__all__ = ["RateGrid", "RatePrior", "RateTables", "fixed_tables", "greatest_weights", "make_rate_tables"]

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


@dataclass(frozen=True, eq=False)
class RateTables:
    """Tables of error rates, in the units of the problem's scores.

    Attributes:
        model: the rates, fixed or learned.
        fn_weights, fp_weights: int64, shape (points, classes): the parts of the weights, by class.
        fn_worth: int64, shape (points,): logarithm of the prior's density.
        fp_worth: likewise, plus the base of scores relative to that at the start.
        doublet_worth: likewise, for the rate of doublets, without that base.
    """

    model: RateModel
    fn_weights: NDArray[np.int64]
    fp_weights: NDArray[np.int64]
    fn_worth: NDArray[np.int64]
    fp_worth: NDArray[np.int64]
    doublet_worth: NDArray[np.int64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def weights(self, places: Places) -> tuple[int, ...]:
        """Return the weight of every class at grid points."""
        return tuple((self.fn_weights[places[FN]] + self.fp_weights[places[FP]]).tolist())

    def worth(self, places: Places) -> int:
        """Return the addend of a tree's score at grid points."""
        worths = (self.fn_worth, self.fp_worth, self.doublet_worth)
        return sum(int(worth[place]) for worth, place in zip(worths, places, strict=True))

    @property
    def digest(self) -> str | None:
        """SHA-256 digest of everything that a chain with learned rates depends on; None for fixed rates."""
        if not self.model.learns:
            return None
        digest = hashlib.sha256(self.model.jumps.astype("<i8").tobytes())
        for table in (self.fn_weights, self.fp_weights, self.fn_worth, self.fp_worth, self.doublet_worth):
            digest.update(table.astype("<i8").tobytes())
        return digest.hexdigest()


def greatest_weights(model: RateModel) -> NDArray[np.float64]:
    """Return bounds of the weights' sizes over all grid points: float64, shape (4,), natural logarithm."""
    if not model.learns:
        return np.abs(model.rates.weights())
    fn, fp = (np.abs(parts).max(axis=0) for parts in model.parts_of_weights)
    return np.asarray(fn + fp)


def fixed_tables(model: RateModel, weights: tuple[int, ...]) -> RateTables:
    """Make the tables of fixed rates.

    Args:
        model: the rates.
        weights: of every class, in units of score.
    """
    nothing = np.zeros(1, dtype=np.int64)
    own = np.array([weights], dtype=np.int64)
    return RateTables(model, own, np.zeros_like(own), nothing, nothing, nothing)


def make_rate_tables(
    model: RateModel, values: tuple[int, ...], counts: NDArray[np.int64], unit: float
) -> RateTables:
    """Make the tables.

    Args:
        model: the rates.
        values: observed value of class 0, of class 1, ...; the last class has none.
        counts: int64, shape (4,): how often each value was observed.
        unit: value of a score of 1, in nats.
    """
    if not model.learns:
        weights = model.rates.weights()
        return fixed_tables(model, (*(round(float(weights[value]) / unit) for value in values), 0))
    fn, fp = model.parts_of_weights
    bases = -fp @ counts
    bases -= bases[model.start[FP]]
    fn_worth, fp_worth, doublet_worth = (
        np.zeros(1) if grid is None else grid.log_density for grid in model.grids
    )
    return RateTables(
        model,
        _by_class(fn, values, unit),
        _by_class(fp, values, unit),
        _rounded(fn_worth, unit),
        _rounded(fp_worth + bases, unit),
        _rounded(doublet_worth, unit),
    )


def _rounded(nats: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    return np.ascontiguousarray(np.rint(nats / unit), dtype=np.int64)


def _by_class(parts: NDArray[np.float64], values: tuple[int, ...], unit: float) -> NDArray[np.int64]:
    table = np.zeros((len(parts), len(values) + 1), dtype=np.int64)
    table[:, :-1] = _rounded(parts[:, list(values)], unit)
    return table
