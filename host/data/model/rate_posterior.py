"""Posterior of error rates that were estimated: intervals, from trees sampled under the estimates.

Trees T are sampled from p(T | D, r₀), where r₀ are the estimated rates. For other rates r,

    p(r | D) ∝ p(r) · mean over T of L(T, r) / L(T, r₀)

with L the likelihood of a tree with its cells at all nodes, whose prior probabilities are the shares sampled
with the tree. So no chain has to move the rates (importance sampling). The prior is that of the estimates
(`rate_fit.PRIORS`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.paths import summed_over_nodes
from syclade.host.data.model.rate_fit import PRIORS, expected_errors, largest_sum, log_odds_of_rate
from syclade.host.data.model.rates import Columns, Rates, distinct_columns
from syclade.host.ground.signals import stop_wanted
from syclade.host.ground.values import JsonObject

__all__ = ["RateInterval", "RatePosterior", "rate_posterior"]

INSIDE = 0.9
"""Probability of an interval."""

_NAMES = ("fp_rate", "fn_rate")
_COARSE, _FINE, _DEGREE = 9, 201, 6
"""Points of each rate at which likelihoods are computed; points between them; degree of the polynomial."""

_WIDTH, _WIDER, _MOST_ROUNDS = 4.0, 1.6, 8
"""Half the width of the grid, in standard deviations of a known tree; its growth while it is too narrow."""

_OUTSIDE = 1e-3
"""Largest density at the ends of the grid, relative to the highest one."""

_LOWEST = math.log(1e-9)
"""Least log odds of the rates that are considered; the largest are those of the prior."""

_WIDE = 0.5
"""Part of the prior's interval from which an interval is wide: it says little more than the prior."""

_FEWEST_TREES, _MOST_TREES, _WORK = 16, 128, 2e8
"""Numbers of trees that are used: as many as have so many exponentials."""


_FITTING = 0.5
"""Share of the trees that count if they were sampled under rates near to the posterior."""

_SAME = 1.05
"""Ratio of rates that are as good as equal: with thousands of cells, intervals are narrower than this."""

_STEEPEST = 0.75
"""Greatest ratio of two corrections from which the next ones are foreseen: these move four times as far."""

_SETTLED = 0.1
"""Part of an interval by which the mean may differ from the rate that the trees were sampled under."""

_LEAST_EFFECTIVE = 10.0
"""Effective number of trees below which intervals are rough."""


class RateInterval(NamedTuple):
    """Posterior of a rate.

    Attributes:
        mean: its mean.
        low, high: ends of the shortest interval with 90 %; it begins near 0 if there may be no error.
    """

    mean: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """The mean with its interval as text, in three digits as all rates."""
        return f"{self.mean:.3g} ({INSIDE:.0%}: {self.low:.3g} to {self.high:.3g})".replace("%", " %")


class RatePosterior(NamedTuple):
    """Posterior of the estimated rates.

    Attributes:
        intervals: by the name of the rate.
        trees: number of trees that were used.
        effective: effective number of trees; if it is small, the intervals are rough.
        sampled_under: the rates that the trees were sampled under.
    """

    intervals: dict[str, RateInterval]
    trees: int
    effective: float
    sampled_under: Rates

    @property
    def fits(self) -> bool:
        """True if the trees were sampled under rates near to the posterior.

        At least half of the trees count, and their rates are inside the intervals, or 5 % outside.
        """
        return self.effective >= _FITTING * self.trees and all(
            one.low / _SAME <= getattr(self.sampled_under, name) <= one.high * _SAME
            for name, one in self.intervals.items()
        )

    @property
    def settled(self) -> bool:
        """True if the means differ from the rates of the trees by little beside the intervals.

        Where thousands of cells hold the shares of the nodes fast, few trees count even so.
        """
        return all(
            abs(one.mean - getattr(self.sampled_under, name)) <= _SETTLED * (one.high - one.low)
            for name, one in self.intervals.items()
        )

    def next_rates(self, before: RatePosterior | None) -> dict[str, float]:
        """Return the rates to sample under next, with three digits: the means, or where these lead to.

        Args:
            before: the posterior by which the rates of these trees were chosen; None for none. Means that
                moved in the same direction twice move on by a geometric series.
        """
        found = {}
        for name, one in self.intervals.items():
            under, mean = (log_odds_of_rate(rate) for rate in (getattr(self.sampled_under, name), one.mean))
            if before is not None:
                first = under - log_odds_of_rate(getattr(before.sampled_under, name))
                ratio = min(max((mean - under) / first, 0.0), _STEEPEST) if first else 0.0
                mean = min(mean + (mean - under) * ratio / (1.0 - ratio), log_odds_of_rate(PRIORS[name].most))
            found[name] = float(f"{1.0 / (1.0 + math.exp(-mean)):.3g}")
        return found

    @property
    def wide(self) -> tuple[str, ...]:
        """Names of rates that the matrix hardly determines: their intervals are wide beside the prior's."""
        return tuple(
            name
            for name, one in self.intervals.items()
            if one.high - one.low > _WIDE * PRIORS[name].width(INSIDE)
        )

    @property
    def rough(self) -> bool:
        """True if few of the trees count: they were sampled under rates that are too different."""
        return self.effective < _LEAST_EFFECTIVE

    @property
    def rates_under(self) -> dict[str, float]:
        """The estimated rates that the trees were sampled under, by name."""
        return {name: getattr(self.sampled_under, name) for name in self.intervals}

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json, with six digits."""
        rounded = {
            name: {key: float(f"{value:.6g}") for key, value in one._asdict().items()}
            for name, one in self.intervals.items()
        }
        return {
            **rounded,
            "trees": self.trees,
            "worth": float(f"{self.effective:.6g}"),
            "sampled_under": self.rates_under,
        }


def rate_posterior(
    matrix: Matrix,
    rates: Rates,
    trees: NDArray[np.int32],
    shares: NDArray[np.float64] | None = None,
    *,
    names: Sequence[str],
) -> RatePosterior:
    """Return the posterior of estimated rates, each with the other rates.

    Args:
        matrix: the observed values.
        rates: the error rates that the trees were sampled under, without rates for zygosity.
        trees: int32, shape (trees, n + 1): sampled trees, at least one; some are used, evenly spaced, and few
            of them after a stop request.
        shares: float64, shape (trees, n + 1): part of the cells at each node, sampled with the trees; equal
            by default.
        names: the estimated rates: fp_rate, fn_rate or both. The others are taken as exact.

    Raises:
        MatrixError: there are homozygous mutations and they are not merged.

    Source: docs/model.md, "Estimated error rates".
    """
    columns = distinct_columns(matrix, rates)
    work = _COARSE ** len(names) * (columns.values.shape[0] + 1) * columns.values.shape[1]
    used = min(len(trees), max(_FEWEST_TREES, min(_MOST_TREES, int(_WORK / work))))
    chosen = np.arange(used) * len(trees) // used
    some = trees[chosen]
    logs = np.zeros(some.shape) if shares is None else np.log(shares[chosen])
    errors = expected_errors(matrix, rates, some[0], None if shares is None else shares[chosen[0]], names)
    highest = [log_odds_of_rate(min(PRIORS[name].most, largest_sum(rates, names))) for name in names]
    ends = [_ends(one, most) for one, most in zip(errors, highest, strict=True)]
    for _ in range(_MOST_ROUNDS):
        axes = [np.linspace(low, high, _COARSE) for low, high in ends]
        gains = _gains(columns, rates, some, logs, names, axes)
        intervals, wider = _read(names, axes, gains, errors)
        wider = [(low, min(high, most)) for (low, high), most in zip(wider, highest, strict=True)]
        if wider == ends:
            break
        ends = wider
    weights = np.exp(gains - gains.max()) @ _density(names, axes).ravel()
    return RatePosterior(intervals, len(gains), float(weights.sum() ** 2 / (weights**2).sum()), rates)


def _ends(errors: tuple[float, float], highest: float) -> tuple[float, float]:
    """Return the ends of a rate's grid, in log odds, from where it would be if the tree were known."""
    wrong, right = (number + 1.0 for number in errors)
    center, width = math.log(wrong / right), _WIDTH * math.sqrt(1.0 / wrong + 1.0 / right)
    return max(_LOWEST, min(center, highest) - width), min(highest, center + width)


def _rate(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rates with these log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-scale)))


def _gains(
    columns: Columns,
    rates: Rates,
    trees: NDArray[np.int32],
    log_shares: NDArray[np.float64],
    names: Sequence[str],
    axes: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return log L(T, r) - log L(T, r₀): float64, shape (trees, points of the grid, flat).

    After a stop request, of the first few trees.
    """
    own = {name: np.array(getattr(rates, name)) for name in _NAMES}
    grid = np.meshgrid(*(_rate(axis) for axis in axes), indexing="ij")
    points = own | {name: part.ravel() for name, part in zip(names, grid, strict=True)}
    fp, fn = np.broadcast_arrays(points["fp_rate"], points["fn_rate"])
    fp, fn = np.append(fp, rates.fp_rate), np.append(fn, rates.fn_rate)  # the last point is r₀
    weights = np.stack([np.log(fn) - np.log1p(-fp), np.log1p(-fn) - np.log(fp)], axis=1)
    zeros, ones = (float((columns.values == value).sum(axis=0) @ columns.multiplicity) for value in (0, 1))
    base = zeros * np.log1p(-fp) + ones * np.log(fp)
    found: list[NDArray[np.float64]] = []
    for tree, of_nodes in zip(trees, log_shares, strict=True):
        found.append(base + summed_over_nodes(columns.values, columns.multiplicity, tree, of_nodes, weights))
        if len(found) >= _FEWEST_TREES and stop_wanted():
            break
    sums = np.array(found)
    return np.asarray(sums[:, :-1] - sums[:, -1:])


def _read(
    names: Sequence[str],
    axes: Sequence[NDArray[np.float64]],
    gains: NDArray[np.float64],
    errors: Sequence[tuple[float, float]],
) -> tuple[dict[str, RateInterval], list[tuple[float, float]]]:
    """Return the intervals, and the ends of the grid, wider where the density does not vanish.

    With fixed numbers of errors the likelihood would be known at every point. What remains is smooth: a
    polynomial through it gives the density at the fine points.
    """
    peak = gains.max(axis=0)
    log_mean = (np.log(np.exp(gains - peak).mean(axis=0)) + peak).reshape((_COARSE,) * len(axes))
    fine = [np.linspace(axis[0], axis[-1], _FINE) for axis in axes]
    smooth = _interpolated(log_mean - _known(axes, errors))
    log_density = smooth + _known(fine, errors) + np.log(_density(names, fine))
    density = np.exp(log_density - log_density.max())
    intervals, wider = {}, []
    for at, (name, axis) in enumerate(zip(names, fine, strict=True)):
        marginal = density.sum(axis=tuple(other for other in range(len(axes)) if other != at))
        rate, share = _rate(axis), marginal / marginal.sum()
        intervals[name] = RateInterval(float(rate @ share), *_shortest(rate, share))
        more, least = (_WIDER - 1.0) * (axis[-1] - axis[0]) / 2.0, _OUTSIDE * marginal.max()
        first, last = axis[0] - more * (marginal[0] > least), axis[-1] + more * (marginal[-1] > least)
        wider.append((max(_LOWEST, float(first)), float(last)))
    return intervals, wider


def _shortest(rate: NDArray[np.float64], share: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the shortest interval with a probability of `INSIDE`."""
    below = np.linspace(0.0, 1.0 - INSIDE, _FINE)
    sums = np.cumsum(share) - share / 2.0
    low, high = np.interp(below, sums, rate), np.interp(below + INSIDE, sums, rate)
    best = int((high - low).argmin())
    return float(low[best]), float(high[best])


def _known(axes: Sequence[NDArray[np.float64]], errors: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """Return the log-likelihood of these numbers of errors, on the grid: float64, one dimension per axis."""
    total = np.zeros(())
    for axis, (wrong, right) in zip(axes, errors, strict=True):
        rate = _rate(axis)
        total = np.add.outer(total, wrong * np.log(rate) + right * np.log1p(-rate))
    return np.asarray(total)


def _density(names: Sequence[str], axes: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the prior's density of the log odds, on the grid: float64, one dimension per axis."""
    density = np.ones(())
    for name, axis in zip(names, axes, strict=True):
        rate = _rate(axis)
        density = np.multiply.outer(density, rate * (1.0 - rate) * np.exp(PRIORS[name].log_density(rate)))
    return np.asarray(density)


def _interpolated(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a polynomial through values on a coarse grid, at the fine points between its ends.

    Args:
        values: float64, `_COARSE` values along each dimension.
    """
    coarse, fine = (
        np.cos(np.outer(np.arccos(np.linspace(-1.0, 1.0, points)), np.arange(_DEGREE + 1)))  # Chebyshev's
        for points in (_COARSE, _FINE)
    )
    through = fine @ np.linalg.pinv(coarse)
    for at in range(values.ndim):
        values = np.moveaxis(np.tensordot(through, values, axes=(1, at)), 0, at)
    return values
