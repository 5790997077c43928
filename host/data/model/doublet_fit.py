"""Rates of errors and of doublets that fit a given tree best, in float64 (docs/model.md, "Doublets")."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublets import Mixture, mixture_of
from syclade.host.data.model.rate_fit import PRIORS
from syclade.host.data.model.rates import ObservationModel, error_rates

__all__ = ["BOUNDS", "FittedRates", "best_share", "climb", "fit_with_doublets", "logit", "rate_at"]

LEAST = 1e-9
"""Least error rate."""

BOUNDS = {"fp_rate": (LEAST, 0.3), "fn_rate": (LEAST, 0.69)}
"""Bounds of error rates without priors: an observed mutation is evidence for the mutation."""

HALF = 0.5
"""Errors, and doublets, that are added to either count of a rate, so that none is 0 or 1."""

_WIDTHS = (2.0, 0.5, 0.15)
"""Widths of the rounds of the search along each rate in turn, in logits."""

_EVALUATIONS = 14

_LARGEST_SHARE = 0.999

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
    """Return the rates with the highest likelihood of a tree with doublets: a climb along each in turn.

    The error rates have the priors of estimated rates (`rate_fit.PRIORS`). Half an error is added to both
    counts of errors of a fitted rate, and half a doublet to the counts of doublets and of single cells.
    Fitted rates have three digits, which are equal on all processors.

    Args:
        matrix: the observed values.
        parents: int32, shape (n + 1,): the tree.
        start: first error rates.
        names: the error rates to fit: of fp_rate and fn_rate; the others stay.
        doublets: the rate of doublets; None to fit it as well.
    """

    def share_of(mixture: Mixture) -> float:
        return best_share(mixture, HALF) if doublets is None else doublets

    def value(logits: dict[str, float]) -> float:
        found = {name: rate_at(x) for name, x in logits.items()}
        mixture = mixture_of(matrix, _with(start, found), parents)
        share = share_of(mixture)
        counted = [*found.values(), *([share] if doublets is None else [])]
        added = HALF * sum(math.log(rate) + math.log1p(-rate) for rate in counted)
        priors = sum(float(PRIORS[name].log_density(np.array(rate))) for name, rate in found.items())
        return float(mixture.log_likelihoods(share).sum()) + added + priors

    logits = {name: logit(getattr(start, name)) for name in names}
    for width in _WIDTHS:
        for name in names:

            def along(x: float, name: str = name) -> float:
                return value({**logits, name: x})

            logits[name] = climb(along, logits[name], width, (LEAST, PRIORS[name].most), _EVALUATIONS)
    rates = _with(start, {name: _rounded(rate_at(x)) for name, x in logits.items()})
    if doublets is None:
        share = best_share(mixture_of(matrix, rates, parents), HALF)
        doublets = min(_LARGEST_SHARE, _rounded(share))
    return FittedRates(rates, doublets)


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


def best_share(mixture: Mixture, added: float = 0.0) -> float:
    """Return the rate of doublets that makes a tree most likely, 0 to 1.

    The log-likelihood is concave in the rate, so its slope has one root, which bisection finds. EM has the
    same limit, but needs very many rounds near 0.

    Args:
        mixture: the cells' likelihoods as single cells and as doublets.
        added: numbers of doublets, and of single cells, that are added to those of the matrix.
    """
    excess = np.expm1(np.clip(mixture.pair - mixture.single, -700.0, 700.0))

    def slope(share: float) -> float:
        of_cells = float((excess / (1.0 + share * excess)).sum())
        return of_cells + (added / share - added / (1.0 - share) if added else 0.0)

    low, high = 0.0, 1.0
    if not added and slope(low) <= 0.0:
        return low
    if not added and (excess > -1.0).all() and slope(high) >= 0.0:
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
