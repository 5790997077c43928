"""Learned error rates: their priors, the grids on which they move, and what each place on these is worth.

A rate stands on a grid that is uniform in the rate, so that weights and priors are tables of integers, and
the same on every device (docs/model.md, "Learned rates").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.errors import OptionError
from syclade.host.model.rates import Rates
from syclade.host.values import real
from syclade.kernels.rates.arguments import FN, FP, JUMPS

__all__ = ["Learned", "RateGrid", "RatePrior", "learned_rates"]

POINTS = 2**13
"""Of a grid: a prior's standard deviation has 400 of them, unless its grid ends sooner."""

DEVIATIONS = 20.0
"""Standard deviations of the prior above its mean, beyond which the grid needs not to go."""

STEP = 0.1
"""Standard deviation of a jump, in those of the prior: SCITE's -x 10."""

FN_DEVIATION = 0.1
"""Standard deviation of the prior of the rate of false negatives: SCITE's -sd."""


@dataclass(frozen=True)
class RatePrior:
    """What is asked of a learned rate.

    Attributes:
        name: fn_rate or fp_rate.
        probability: that a step is a jump of this rate, inside (0, 1).
        mean, deviation: of the Beta prior.
        step: standard deviation of a jump.
    """

    name: str
    probability: float
    mean: float
    deviation: float
    step: float

    @property
    def shapes(self) -> tuple[float, float]:
        """The Beta distribution's a and b."""
        a = (1.0 - self.mean) * self.mean**2 / self.deviation**2 - self.mean
        return a, a * (1.0 / self.mean - 1.0)

    def told(self) -> dict[str, float]:
        """As plain values."""
        return {
            "probability": self.probability,
            "prior_mean": self.mean,
            "prior_sd": self.deviation,
            "step_sd": self.step,
        }


@dataclass(frozen=True, eq=False)
class RateGrid:
    """Where a rate may be.

    Attributes:
        prior: what was asked.
        end: rates are below.
        begin: and above, by half a spacing and more.
        points: how many rates there are.
    """

    prior: RatePrior
    end: float
    begin: float = 0.0
    points: int = POINTS

    @property
    def spacing(self) -> float:
        """From a place to the next."""
        return (self.end - self.begin) / self.points

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Of every place: float64, shape (points,)."""
        return self.begin + (np.arange(self.points) + 0.5) * self.spacing

    @cached_property
    def log_density(self) -> NDArray[np.float64]:
        """Of the prior at every place, natural logarithm: float64, shape (points,)."""
        a, b = self.prior.shapes
        normal = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return normal + (a - 1.0) * np.log(self.rates) + (b - 1.0) * np.log1p(-self.rates)

    @cached_property
    def jumps(self) -> NDArray[np.int64]:
        """Lengths of jumps, equally probable: quantiles of a normal distribution's half, at least 1."""
        from statistics import NormalDist  # which takes long to load

        steps = NormalDist(0.0, self.prior.step / self.spacing)
        lengths = [steps.inv_cdf(0.5 + (at + 0.5) / (2 * JUMPS)) for at in range(JUMPS)]
        return np.clip(np.rint(lengths), 1, self.points - 1).astype(np.int64)

    @property
    def start(self) -> int:
        """The place of the prior's mean."""
        return min(self.points - 1, max(0, int((self.prior.mean - self.begin) / self.spacing)))


@dataclass(frozen=True, eq=False)
class Learned:
    """Which rates are learned, and what the others are.

    Attributes:
        rates: those that are given; of learned ones, the priors' means.
        fn, fp: grids of learned rates; None where a rate is fixed.
    """

    rates: Rates
    fn: RateGrid | None
    fp: RateGrid | None

    @property
    def priors(self) -> tuple[RatePrior, ...]:
        """Of the learned rates, that of false negatives first."""
        return tuple(grid.prior for grid in (self.fn, self.fp) if grid is not None)

    @property
    def points(self) -> tuple[int, int]:
        """Of both grids; 1 for a rate that is fixed."""
        return (1 if self.fn is None else self.fn.points, 1 if self.fp is None else self.fp.points)

    @property
    def start(self) -> tuple[int, int]:
        """Where the rates stand before the first step."""
        return (0 if self.fn is None else self.fn.start, 0 if self.fp is None else self.fp.start)

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Lengths of jumps of both: int64, shape (2, JUMPS); zeros for a rate that is fixed."""
        none = np.zeros(JUMPS, dtype=np.int64)
        return np.stack([none if grid is None else grid.jumps for grid in (self.fn, self.fp)])

    def at(self, places: tuple[int, int]) -> Rates:
        """The rates at such places. Of zygosity, both rates of false negatives are a half (SCITE)."""
        fn, fp = self.rates.fn_rate, self.rates.fp_rate
        fn_hom = self.rates.fn_rate_hom
        if self.fn is not None:
            fn = float(self.fn.rates[places[FN]])
            if fn_hom is not None:
                fn = fn_hom = fn / 2.0
        if self.fp is not None:
            fp = float(self.fp.rates[places[FP]])
        return Rates(fp, fn, fn_hom, self.rates.hom_rate, self.rates.merge_homozygous)

    def values(self, places: tuple[int, int]) -> dict[str, float]:
        """The learned rates at such places, by name; with zygosity, that of false negatives is the sum."""
        grids = ((self.fn, places[FN]), (self.fp, places[FP]))
        return {grid.prior.name: float(grid.rates[place]) for grid, place in grids if grid is not None}

    def log_prior(self, places: tuple[int, int]) -> float:
        """Of learned rates at such places: the logarithm of the density of their priors."""
        fn = 0.0 if self.fn is None else float(self.fn.log_density[places[FN]])
        return fn + (0.0 if self.fp is None else float(self.fp.log_density[places[FP]]))

    def along(self, rate: int) -> Iterator[Rates]:
        """The rates at every place of one grid, the other rate at its start."""
        fn, fp = self.start
        return (self.at((place, fp) if rate == FN else (fn, place)) for place in range(self.points[rate]))


def learned_rates(
    rates: Rates,
    *,
    learn_fn: float | None = None,
    fn_deviation: float | None = None,
    fn_step: float | None = None,
    learn_fp: float | None = None,
    fp_deviation: float | None = None,
    fp_step: float | None = None,
) -> Learned | None:
    """What is learned of which rates; None if nothing is.

    Args:
        rates: given, those to learn as their priors' means; with zygosity, that of false negatives is the
            sum of both.
        learn_fn, learn_fp: probabilities that a step is a jump of that rate; None: it is fixed.
        fn_deviation, fp_deviation: standard deviations of the priors; without, 0.1 and the rate itself, or
            less where no Beta distribution has them.
        fn_step, fp_step: standard deviations of jumps; a tenth of the priors' without.

    Raises:
        OptionError: numbers that make no sense, or that leave steps for nothing else.
    """
    missed = rates.fn_rate + (rates.fn_rate_hom or 0.0)
    fn = _prior("fn", learn_fn, missed, fn_deviation, fn_step, FN_DEVIATION)
    fp = _prior("fp", learn_fp, rates.fp_rate, fp_deviation, fp_step, rates.fp_rate)
    if fn is None and fp is None:
        return None
    if sum(prior.probability for prior in (fn, fp) if prior is not None) >= 1.0:
        raise OptionError(
            "--learn-fn and --learn-fp leave no step for the tree", hint="their sum has to be below 1"
        )
    spent = rates.hom_rate or 0.0
    fp_end = rates.fp_rate if fp is None else _end(fp, (1.0 - missed - spent if fn is None else 0.5))
    fn_end = _end(fn, 1.0 - fp_end - spent) if fn is not None else missed
    # Both rates of false negatives are a half, and an observed 2 is to be evidence for the mutation.
    fn_begin = 2.0 * spent
    return Learned(
        rates,
        None if fn is None else _grid(fn, fn_begin, fn_end),
        None if fp is None else _grid(fp, 0.0, fp_end),
    )


def _end(prior: RatePrior, limit: float) -> float:
    """Of a grid: where the prior has ended, or an observed mutation would be none any more."""
    return min(limit, prior.mean + DEVIATIONS * prior.deviation)


def _grid(prior: RatePrior, begin: float, end: float) -> RateGrid:
    option = f"--{prior.name.removesuffix('_rate')}"
    if not begin < prior.mean < end:
        raise OptionError(
            f"--{prior.name.replace('_', '-')} {prior.mean:g} leaves {option} no room",
            hint="an observed mutation would speak against the mutation: check the rates",
        )
    grid = RateGrid(prior, end, begin)
    if not grid.spacing / 4 <= prior.step <= end:
        raise OptionError(
            f"{option}-step is {prior.step:g}",
            hint=f"give a number from {grid.spacing / 4:.2g} to {end:.2g}; a tenth of {option}-sd is usual",
        )
    return grid


def _prior(
    short: str,
    probability: float | None,
    mean: float,
    deviation: float | None,
    step: float | None,
    usual: float,
) -> RatePrior | None:
    """What is asked of a rate.

    Raises:
        OptionError: numbers that make no sense, or are for a rate that is not learned.
    """
    learn, sd, jump = f"--learn-{short}", f"--{short}-sd", f"--{short}-step"
    if probability is None:
        for option, value in ((sd, deviation), (jump, step)):
            if value is not None:
                raise OptionError(f"{option} without {learn}", hint=f"give {learn} as well, such as 0.2")
        return None
    part = real(learn, probability)
    if not 0.0 < part < 1.0:
        raise OptionError(f"{learn} is {part:g}", hint="give a probability between 0 and 1, such as 0.2")
    largest = math.sqrt(mean * (1.0 - mean))
    width = min(usual, largest / 2.0) if deviation is None else real(sd, deviation)
    if not 0.0 < width < largest:
        raise OptionError(
            f"{sd} is {width:g}",
            hint=f"a Beta distribution with mean {mean:g} has one between 0 and {largest:.3g}",
        )
    jumps = STEP * width if step is None else real(jump, step)
    return RatePrior(f"{short}_rate", part, mean, width, jumps)
