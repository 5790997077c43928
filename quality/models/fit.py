"""Rates that make a given tree most likely, with and without doublets: no priors, in float64.

A doublet is at any two nodes. If one of them is above the other, it has the mutations of a single cell at the
lower one, so a rate of doublets also says how deep in the tree cells are. The control has such pairs only: as
many parameters, and no doublets of two branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.input.matrix import Matrix
from syclade.host.model.doublets import Mixture, mixture_of
from syclade.host.model.rates import Rates
from syclade.host.trees.tree import depths

__all__ = ["MODELS", "Fit", "best_share", "fit_model", "with_lineages"]

MODELS = ("single", "control", "doublets")
"""Models: single cells; these and pairs on one lineage; these and all pairs."""

BOUNDS = ((1e-9, 0.3), (1e-9, 0.69))
"""Bounds of the rates of false positives and negatives: an observed mutation is evidence for the mutation."""

WIDTHS = (30.0, 3.0, 1.0, 0.3, 0.1)
"""Widths of the rounds of the search along each rate in turn, in logits; the first one spans all rates."""

EVALUATIONS = 24
"""Evaluations of a search along one rate."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Fit(NamedTuple):
    """A tree with the rates that make it most likely.

    Attributes:
        log_likelihood: natural log; of a cell, the mean over all nodes, and over all pairs for a doublet.
        fp_rate, fn_rate: error rates.
        doublets: rate of pairs of nodes; 0 in the model without.
        relevant: rate of doublets of two branches.
        calls: number of cells with a probability of being a doublet of two branches above 1/2.
    """

    log_likelihood: float
    fp_rate: float
    fn_rate: float
    doublets: float
    relevant: float
    calls: int


def fit_model(matrix: Matrix, parents: NDArray[np.int32], fp_rate: float, fn_rate: float, model: str) -> Fit:
    """Fit the error rates, and the rate of pairs, to a tree: a climb along each error rate in turn.

    Args:
        matrix: the matrix; 2 counts as 1.
        parents: int32, shape (n + 1,): the tree.
        fp_rate, fn_rate: rates to start from.
        model: one of MODELS. The rate of pairs is the best one at each pair of error rates.
    """
    logits = [_logit(fp_rate), _logit(fn_rate)]

    def value(at: list[float]) -> float:
        mixture = _mixture(matrix, parents, at, model)
        share = 0.0 if model == "single" else best_share(mixture)
        return float(mixture.log_likelihoods(share).sum())

    for width in WIDTHS:
        for rate in (0, 1):
            logits[rate] = _climb(
                lambda x, rate=rate: value([x, logits[1]] if rate == 0 else [logits[0], x]),  # type: ignore[misc]
                logits[rate],
                width,
                BOUNDS[rate],
            )
    mixture = _mixture(matrix, parents, logits, model)
    share = 0.0 if model == "single" else best_share(mixture)
    return Fit(
        float(mixture.log_likelihoods(share).sum()),
        _rate(logits[0]),
        _rate(logits[1]),
        share,
        mixture.relevant_rate(share),
        int((mixture.branches(share) > 0.5).sum()),
    )


def with_lineages(mixture: Mixture, parents: NDArray[np.int32]) -> Mixture:
    """Return the mixture of the control: pairs are uniform among those with one node above the other."""
    nodes = len(parents)
    related = nodes + 2 * int(depths(parents).sum())
    with np.errstate(divide="ignore"):
        on_lineages = mixture.pair + np.log(-np.expm1(mixture.relevant - mixture.pair))
    pair = on_lineages + 2.0 * math.log(nodes) - math.log(related)
    return Mixture(mixture.single, pair, np.full_like(pair, -np.inf))


def best_share(mixture: Mixture) -> float:
    """Return the rate of doublets that makes a tree most likely, 0 to 1.

    The log-likelihood is concave in the rate, so its slope has one root, which bisection finds. EM has the
    same limit, but needs very many rounds near 0.
    """
    excess = np.expm1(np.clip(mixture.pair - mixture.single, -700.0, 700.0))

    def slope(share: float) -> float:
        return float((excess / (1.0 + share * excess)).sum())

    low, high = 0.0, 1.0
    if slope(low) <= 0.0:
        return low
    if (excess > -1.0).all() and slope(high) >= 0.0:
        return high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low


def _climb(value: Callable[[float], float], at: float, width: float, bounds: tuple[float, float]) -> float:
    """Return a place that is no worse than `at`, by golden-section search within `width` on both sides."""
    lowest, highest = map(_logit, bounds)
    at = min(max(at, lowest), highest)
    low, high = max(lowest, at - width), min(highest, at + width)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    best = (value(at), at)
    values = [value(left), value(right)]
    for _ in range(EVALUATIONS - 3):
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


def _mixture(matrix: Matrix, parents: NDArray[np.int32], logits: list[float], model: str) -> Mixture:
    fp_rate, fn_rate = map(_rate, logits)
    mixture = mixture_of(matrix, Rates(fp_rate, fn_rate, merge_homozygous=True), parents)
    return with_lineages(mixture, parents) if model == "control" else mixture


def _logit(rate: float) -> float:
    return math.log(rate) - math.log1p(-rate)


def _rate(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))
