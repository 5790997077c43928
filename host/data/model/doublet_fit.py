"""Rates of errors and of doublets that fit a given tree best, in float64 (docs/model.md, "Doublets")."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublets import Mixture, fitted_shares, mixture_of
from syclade.host.data.model.rate_fit import PRIORS
from syclade.host.data.model.rates import ObservationModel, error_rates

__all__ = ["BOUNDS", "FittedRates", "best_share", "climb", "fit_with_doublets", "logit", "rate_at"]

LEAST = 1e-9
"""Least error rate."""

BOUNDS = {"fp_rate": (LEAST, 0.3), "fn_rate": (LEAST, 0.69)}
"""Bounds of error rates without priors: an observed mutation is evidence for the mutation."""

HALF = 0.5
"""Errors that are added to either count of a rate, so that none is 0 or 1."""

ADDED, USUAL = (0.5, 9.0), 0.05
"""Doublets and single cells that are added to those of the matrix: a Beta(1.5, 10) prior, above 0.3 with a
probability of 0.06; and a rate near its mode. Instruments make 1 to 20 % of doublets."""

_WIDTHS = (2.0, 0.5, 0.15)
"""Widths of the rounds of the search along each rate in turn, in logits."""

_EVALUATIONS = 14

_WIDTHS_OF_DOUBLETS, _BOUNDS_OF_DOUBLETS = (3.0, 1.0), (0.001, 0.999)

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class FittedRates(NamedTuple):
    """Rates that fit a tree.

    Attributes:
        rates: error rates, or levels of evidence.
        doublets: rate of doublets.
    """

    rates: ObservationModel
    doublets: float


def fit_with_doublets(
    matrix: Matrix,
    parents: NDArray[np.int32],
    start: ObservationModel,
    names: tuple[str, ...],
    doublets: float | None = None,
) -> FittedRates:
    """Return the most probable rates of a tree with doublets, with the shares of the nodes that fit it.

    If all nodes had the same share, cells that are deep would look like doublets of one lineage, and the rate
    of doublets would be near 1 on most panels. With fitted shares, cells of two branches tell the rate. The
    error rates have the priors of estimated rates (`rate_fit.PRIORS`), with half an error added to both
    counts of errors, and the rate of doublets has that of `ADDED`. Fitted rates have three digits, which are
    equal on all processors.

    Args:
        matrix: the observed values.
        parents: int32, shape (n + 1,): the tree.
        start: first error rates.
        names: the error rates to fit: of fp_rate and fn_rate; the others stay.
        doublets: the rate of doublets; None to fit it as well.
    """
    first = _fit_to_shares(matrix, start, parents, doublets)
    if not names:
        return FittedRates(start, _rounded(first.doublets) if doublets is None else doublets)

    def value(logits: dict[str, float]) -> float:
        found = {name: rate_at(x) for name, x in logits.items()}
        mixture = mixture_of(matrix, _with(start, found), parents, first.shares)
        errors = HALF * sum(math.log(rate) + math.log1p(-rate) for rate in found.values())
        priors = sum(float(PRIORS[name].log_density(np.array(rate))) for name, rate in found.items())
        return errors + priors + _log_density(mixture, doublets)

    logits = {name: logit(getattr(start, name)) for name in names}
    for width in _WIDTHS:
        for name in names:

            def along(x: float, name: str = name) -> float:
                return value({**logits, name: x})

            logits[name] = climb(along, logits[name], width, (LEAST, PRIORS[name].most), _EVALUATIONS)
    rates = _with(start, {name: _rounded(rate_at(x)) for name, x in logits.items()})
    if doublets is None:
        doublets = _rounded(_fit_to_shares(matrix, rates, parents, None, first.shares).doublets)
    return FittedRates(rates, doublets)


class _ToShares(NamedTuple):
    """A rate of doublets and the shares of the nodes, float64, (n + 1,), that fit a tree together."""

    doublets: float
    shares: NDArray[np.float64]


def _fit_to_shares(
    matrix: Matrix,
    rates: ObservationModel,
    parents: NDArray[np.int32],
    doublets: float | None,
    start: NDArray[np.float64] | None = None,
) -> _ToShares:
    """Return the rate of doublets and the shares that fit a tree; arguments as for `fit_with_doublets`.

    The rate is searched, with the shares that fit at each place: a climb of both would be very slow, as a
    doublet of one lineage may be a single cell of a larger clone.
    """
    shares = fitted_shares(matrix, rates, parents, USUAL if doublets is None else doublets, start)
    if doublets is not None:
        return _ToShares(doublets, shares)

    def along(x: float) -> float:
        nonlocal shares
        shares = fitted_shares(matrix, rates, parents, rate_at(x), shares)
        return _log_density(mixture_of(matrix, rates, parents, shares), rate_at(x))

    at = logit(USUAL)
    for width in _WIDTHS_OF_DOUBLETS:
        at = climb(along, at, width, _BOUNDS_OF_DOUBLETS, _EVALUATIONS)
    return _ToShares(rate_at(at), fitted_shares(matrix, rates, parents, rate_at(at), shares))


def _log_density(mixture: Mixture, doublets: float | None) -> float:
    """Return the log-likelihood of cells plus the log prior of a rate of doublets; None for the best rate."""
    share = best_share(mixture, *ADDED) if doublets is None else doublets
    prior = ADDED[0] * math.log(share) + ADDED[1] * math.log1p(-share)
    return float(mixture.log_likelihoods(share).sum()) + prior


def _with(rates: ObservationModel, found: dict[str, float]) -> ObservationModel:
    """Return the rates with some others; levels of evidence have none."""
    if not found:
        return rates
    given = error_rates(rates)
    return replace(
        given, fp_rate=found.get("fp_rate", given.fp_rate), fn_rate=found.get("fn_rate", given.fn_rate)
    )


def _rounded(rate: float) -> float:
    return float(f"{rate:.3g}")


def best_share(mixture: Mixture, doublets: float = 0.0, singles: float = 0.0) -> float:
    """Return the rate of doublets that makes a tree most likely, 0 to 1.

    The log-likelihood is concave in the rate, so its slope has one root, which bisection finds. EM has the
    same limit, but needs very many rounds near 0.

    Args:
        mixture: the cells' likelihoods as single cells and as doublets.
        doublets, singles: numbers of doublets and of single cells that are added to those of the matrix; none
            or both.
    """
    excess = np.expm1(np.clip(mixture.pair - mixture.single, -700.0, 700.0))

    def slope(share: float) -> float:
        of_cells = float((excess / (1.0 + share * excess)).sum())
        return of_cells + (doublets / share - singles / (1.0 - share) if doublets else 0.0)

    low, high = 0.0, 1.0
    if not doublets and slope(low) <= 0.0:
        return low
    if not doublets and (excess > -1.0).all() and slope(high) >= 0.0:
        return high
    for _ in range(60):
        middle = (low + high) / 2.0
        if not 0.0 < middle < 1.0:
            break
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low


def climb(
    value: Callable[[float], float],
    at: float,
    width: float,
    bounds: tuple[float, float],
    evaluations: int,
) -> float:
    """Return a logit that is no worse than `at`, by golden-section search within `width` on both sides.

    Args:
        value: (logit of a rate) -> what is to be greatest.
        at, width: where to search.
        bounds: least and greatest rate.
        evaluations: number of calls of `value`.
    """
    lowest, highest = map(logit, bounds)
    at = min(max(at, lowest), highest)
    low, high = max(lowest, at - width), min(highest, at + width)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    best = (value(at), at)
    values = [value(left), value(right)]
    for _ in range(evaluations - 3):
        best = max(best, (values[0], left), (values[1], right))
        if values[0] >= values[1]:
            high, right = right, left
            left = high - _GOLDEN * (high - low)
            values = [value(left), values[0]]
        else:
            low, left = left, right
            right = low + _GOLDEN * (high - low)
            values = [values[1], value(right)]
    return max(best, (values[0], left), (values[1], right))[1]


def logit(rate: float) -> float:
    """Return the logit of a rate."""
    return math.log(rate) - math.log1p(-rate)


def rate_at(logit: float) -> float:
    """Return the rate with a logit."""
    return 1.0 / (1.0 + math.exp(-logit))
