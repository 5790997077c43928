"""Error rates of a chain, fixed or learned on grids, and their options."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.rate_grid import RateGrid, RatePrior
from syclade.host.data.model.rates import ObservationModel, Rates, log_absent, log_present
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import checked, flag_of
from syclade.kernels.rates.arguments import FN, FP, JUMPS

__all__ = ["NOWHERE", "Places", "RateModel", "make_rate_model"]

Places = tuple[int, int, int]
"""Grid points of the rates of false negatives, of false positives, and of doublets; 0 for a fixed rate."""

NOWHERE: Places = (0, 0, 0)
"""Grid points if no rate is learned."""

DEVIATIONS = 20.0
"""A grid ends at most this many standard deviations of the prior above the prior's mean."""

STEP = 0.1
"""Standard deviation of a jump, in standard deviations of the prior: SCITE's -x 10."""

FN_DEVIATION = 0.1
"""Standard deviation of the prior of the false-negative rate: SCITE's -sd."""

DOUBLETS_DEVIATION = 0.1
"""Standard deviation of the prior of the rate of doublets."""

UNIFORM_MEAN, UNIFORM_DEVIATION = 0.5, math.sqrt(1.0 / 12.0)
"""Mean and standard deviation of the Beta(1, 1) distribution."""

UNIFORM_LEARN = 0.1
"""Probability that a step changes the rate of doublets, if its prior is uniform and no other is given."""


@dataclass(frozen=True, eq=False)
class RateModel:
    """The error rates of a chain: fixed ones have a grid of one point.

    Attributes:
        rates: the given rates; for learned ones, the means of their priors. With evidence, its levels, and no
            rates of errors are learned.
        fn, fp: grids of the learned rates; None for a fixed rate.
        doublets: grid of the rate of doublets; None if it is fixed, or there is none.
    """

    rates: ObservationModel
    fn: RateGrid | None = None
    fp: RateGrid | None = None
    doublets: RateGrid | None = None

    @property
    def grids(self) -> tuple[RateGrid | None, ...]:
        """Grids of all rates, in the order of grid points: false negatives, false positives, doublets."""
        return self.fn, self.fp, self.doublets

    @property
    def learns(self) -> bool:
        """True if the chain moves any rate."""
        return bool(self.priors)

    @property
    def priors(self) -> tuple[RatePrior, ...]:
        """Priors of the learned rates, in the order of `grids`."""
        return tuple(grid.prior for grid in self.grids if grid is not None)

    @property
    def points(self) -> tuple[int, ...]:
        """Numbers of points of all grids; 1 for a fixed rate."""
        return tuple(1 if grid is None else grid.points for grid in self.grids)

    @property
    def start(self) -> Places:
        """Grid points of all rates before the first step."""
        fn, fp, doublets = (0 if grid is None else grid.start for grid in self.grids)
        return fn, fp, doublets

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Lengths of jumps of all rates: int64, shape (3, JUMPS); zeros for a fixed rate."""
        none = np.zeros(JUMPS, dtype=np.int64)
        return np.stack([none if grid is None else grid.jumps for grid in self.grids])

    def at(self, places: Places) -> ObservationModel:
        """Return the error rates at grid points.

        With zygosity, both false-negative rates are half of the learned one, as in SCITE.
        """
        if not isinstance(self.rates, Rates):
            return self.rates
        fp_rate = self._fp_rate(self.rates, places[FP])
        missed = self._fn_rates(self.rates, places[FN])
        return Rates(fp_rate, *missed, self.rates.hom_rate, self.rates.merge_homozygous)

    def _fp_rate(self, given: Rates, place: int) -> float:
        return given.fp_rate if self.fp is None else float(self.fp.rates[place])

    def _fn_rates(self, given: Rates, place: int) -> tuple[float, float | None]:
        """Return both rates of false negatives at a grid point."""
        if self.fn is None:
            return given.fn_rate, given.fn_rate_hom
        learned = float(self.fn.rates[place])
        return (learned, None) if given.fn_rate_hom is None else (learned / 2.0, learned / 2.0)

    @cached_property
    def parts_of_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithm of P(d | 1) by the false-negative rate, and of 1 / P(d | 0) by the false-positive rate.

        Two float64 arrays, shape (points, rows of `log_table`), natural logarithm.

        Raises:
            RatesError: one of the grids has a rate that is too small or too large beside the other rates.
        """
        self._check_ends()
        given = self.rates
        if not isinstance(given, Rates):
            table = given.log_table()
            return table[None, :, 1], -table[None, :, 0]
        # Grids have thousands of points, and rates between their checked ends need no check of their own.
        hom, merged = given.hom_rate, given.merge_homozygous
        fn = [log_present(*self._fn_rates(given, place), merged) for place in range(self.points[FN])]
        fp = [log_absent(self._fp_rate(given, place), hom, merged) for place in range(self.points[FP])]
        return np.array(fn), -np.array(fp)

    def _check_ends(self) -> None:
        """Check the rates at both ends of either grid, with the other rates at their start."""
        fn, fp, doublets = self.start
        for end in (0, -1):
            self.at((end, fp, doublets))
            self.at((fn, end, doublets))

    def values(self, places: Places) -> dict[str, float]:
        """Return the learned rates at grid points, by name; with zygosity, fn_rate is the sum of both."""
        grids = zip(self.grids, places, strict=True)
        return {grid.prior.name: float(grid.rates[place]) for grid, place in grids if grid is not None}

    def log_prior(self, places: Places) -> float:
        """Return the log density of the learned rates' priors at grid points, natural logarithm."""
        grids = zip(self.grids, places, strict=True)
        return sum(float(grid.log_density[place]) for grid, place in grids if grid is not None)


def make_rate_model(
    rates: ObservationModel,
    *,
    learn_fn: float | None = None,
    fn_deviation: float | None = None,
    fn_step: float | None = None,
    learn_fp: float | None = None,
    fp_deviation: float | None = None,
    fp_step: float | None = None,
    doublets: float | None = None,
    learn_doublets: float | None = None,
    doublets_deviation: float | None = None,
    doublets_step: float | None = None,
    unmutated: Any = None,
) -> RateModel:
    """Return the rates of a chain, fixed unless a probability is given.

    Args:
        rates: the given rates; those to learn are the means of their priors. With zygosity, the mean for
            false negatives is the sum of both rates. Or levels of evidence, which no rates go with.
        learn_fn, learn_fp: probabilities that a step is a jump of that rate; None for a fixed rate.
        fn_deviation, fp_deviation: standard deviations of the priors. Default: 0.1 and the rate itself, but
            at most half of what a Beta distribution with this mean can have.
        fn_step, fp_step: standard deviations of jumps. Default: a tenth of the priors'.
        doublets, learn_doublets, doublets_deviation, doublets_step: the same for the rate of doublets, whose
            prior has a standard deviation of 0.1 by default; without `doublets` there is no such rate.
        unmutated: observations of 0 and of 1 at positions without mutations that were left out of the matrix;
            they add to the prior of a learned rate of false positives.

    Raises:
        OptionError: the numbers are invalid, or leave no steps for the tree.
    """
    pairs = None
    if doublets is not None:
        pairs = _prior(
            "doublets", learn_doublets, doublets, doublets_deviation, doublets_step, DOUBLETS_DEVIATION
        )
    of_doublets = None if pairs is None else _grid(pairs, 0.0, _end(pairs, 1.0))
    if not isinstance(rates, Rates):
        return RateModel(rates, doublets=of_doublets)
    missed = rates.fn_rate + (rates.fn_rate_hom or 0.0)
    fn = _prior("fn", learn_fn, missed, fn_deviation, fn_step, FN_DEVIATION)
    fp = _prior("fp", learn_fp, rates.fp_rate, fp_deviation, fp_step, rates.fp_rate)
    if fp is not None and unmutated is not None:
        fp = _with_counts(fp, checked("unmutated_counts", unmutated), fp_step)
    learned = [prior for prior in (fn, fp, pairs) if prior is not None]
    if sum(prior.probability for prior in learned) >= 1.0:
        flags = [flag_of(f"learn_{prior.name.removesuffix('_rate')}") for prior in learned]
        raise OptionError(
            f"{' and '.join(flags)} leave no step for the tree", hint="their sum must be below 1"
        )
    spent = rates.hom_rate or 0.0
    fp_end = rates.fp_rate if fp is None else _end(fp, (1.0 - missed - spent if fn is None else 0.5))
    fn_end = _end(fn, 1.0 - fp_end - spent) if fn is not None else missed
    # Both false-negative rates are half of the learned one; an observed 2 must be evidence for the mutation.
    fn_begin = 2.0 * spent
    return RateModel(
        rates,
        None if fn is None else _grid(fn, fn_begin, fn_end),
        None if fp is None else _grid(fp, _begin(fp), fp_end),
        of_doublets,
    )


def _end(prior: RatePrior, limit: float) -> float:
    """Return the end of a grid: where the prior has vanished, but at most `limit`."""
    return min(limit, prior.center + DEVIATIONS * prior.spread)


def _begin(prior: RatePrior) -> float:
    """Return the begin of a grid: where the prior has vanished if counts make it narrow, else 0."""
    return max(0.0, prior.center - DEVIATIONS * prior.spread) if any(prior.counts) else 0.0


def _with_counts(prior: RatePrior, counts: tuple[int, int], step: float | None) -> RatePrior:
    """Return the prior with counts of left-out positions; jumps follow its width unless they were given."""
    narrower = replace(prior, counts=counts)
    return narrower if step is not None else replace(narrower, step=STEP * narrower.spread)


def _grid(prior: RatePrior, begin: float, end: float) -> RateGrid:
    short = prior.name.removesuffix("_rate")
    if not begin < prior.center < end:
        counts = " ".join(map(str, prior.counts))
        raise OptionError(
            f"{flag_of(prior.name, f'{prior.mean:g}')} leaves no room to learn the rate"
            if not any(prior.counts)
            else f"{flag_of('unmutated_counts', counts)} leave no room to learn the rate",
            hint="an observed mutation would be evidence against the mutation: check the rates",
        )
    grid = RateGrid(prior, end, begin)
    if not grid.spacing / 4 <= prior.step <= end:
        raise OptionError(
            f"{flag_of(f'{short}_step')} is {prior.step:g}",
            hint=f"give a number from {grid.spacing / 4:.2g} to {end:.2g}; a tenth of "
            f"{flag_of(f'{short}_sd')} is usual",
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
    """Return the checked options of a rate; None if it is not learned.

    Raises:
        OptionError: the numbers are invalid, or are given for a rate that is not learned.
    """
    learn, sd, jump = f"learn_{short}", f"{short}_sd", f"{short}_step"
    if probability is None:
        return None
    part = checked(learn, probability)
    largest = math.sqrt(mean * (1.0 - mean))
    width = min(usual, largest / 2.0) if deviation is None else checked(sd, deviation)
    if not 0.0 < width < largest:
        raise OptionError(
            f"{flag_of(sd)} is {width:g}",
            hint=f"a Beta distribution with mean {mean:g} has one between 0 and {largest:.3g}",
        )
    jumps = STEP * width if step is None else checked(jump, step)
    return RatePrior("doublets" if short == "doublets" else f"{short}_rate", part, mean, width, jumps)
