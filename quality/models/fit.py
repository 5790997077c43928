"""Rates that make a given tree most likely, with and without doublets: no priors, in float64.

A doublet is at any two nodes. If one of them is above the other, it has the mutations of a single cell at the
lower one, so a rate of doublets also says how deep in the tree cells are. The control has such pairs only: as
many parameters, and no doublets of two branches.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublet_fit import BOUNDS, best_share, climb, logit, rate_at
from syclade.host.data.model.doublets import Mixture, mixture_of
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import depths

__all__ = ["MODELS", "Fit", "fit_model", "with_lineages"]

MODELS = ("single", "control", "doublets")
"""Models: single cells; these and pairs on one lineage; these and all pairs."""

_NAMES = ("fp_rate", "fn_rate")

WIDTHS = (30.0, 3.0, 1.0, 0.3, 0.1)
"""Widths of the rounds of the search along each rate in turn, in logits; the first one spans all rates."""

EVALUATIONS = 24
"""Evaluations of a search along one rate."""


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
    logits = [logit(fp_rate), logit(fn_rate)]

    def value(at: list[float]) -> float:
        mixture = _mixture(matrix, parents, at, model)
        share = 0.0 if model == "single" else best_share(mixture)
        return float(mixture.log_likelihoods(share).sum())

    for width in WIDTHS:
        for rate in (0, 1):
            logits[rate] = climb(
                lambda x, rate=rate: value([x, logits[1]] if rate == 0 else [logits[0], x]),  # type: ignore[misc]
                logits[rate],
                width,
                BOUNDS[_NAMES[rate]],
                EVALUATIONS,
            )
    mixture = _mixture(matrix, parents, logits, model)
    share = 0.0 if model == "single" else best_share(mixture)
    return Fit(
        float(mixture.log_likelihoods(share).sum()),
        rate_at(logits[0]),
        rate_at(logits[1]),
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


def _mixture(matrix: Matrix, parents: NDArray[np.int32], logits: list[float], model: str) -> Mixture:
    fp_rate, fn_rate = map(rate_at, logits)
    mixture = mixture_of(matrix, Rates(fp_rate, fn_rate, merge_homozygous=True), parents)
    return with_lineages(mixture, parents) if model == "control" else mixture
