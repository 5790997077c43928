"""Prevalence of clones, with intervals: the posterior of a mixture of clones, by Gibbs sampling.

A priori, all combinations of prevalences are equally likely. The clone of each cell is drawn by the
prevalences, and its observations follow from the clone. So a cell that fits several clones counts for those
that have clear cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Prevalence", "prevalence_of"]

INTERVAL = (0.05, 0.95)
"""Quantiles at the ends of an interval."""

BURN_IN, DRAWS, LEAST_DRAWS = 100, 2000, 300
"""Draws that are dropped, and draws that are used: fewer for many cells that fit many clones."""

_WORK = 2**28
"""Most probabilities that the draws use, unless there are only `LEAST_DRAWS`."""

NEGLIGIBLE = 1e-9
"""Probability of a clone for a cell, relative to the cell's best clone, that is taken as 0."""

_SEED = 34


@dataclass(frozen=True, eq=False)
class Prevalence:
    """Prevalence of each clone in the tissue that the cells are from.

    Attributes:
        mean: float64, shape (clones,): posterior mean; the means sum to 1.
        low, high: float64, shape (clones,): ends of the central 90 % of the posterior.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def prevalence_of(probability: NDArray[np.float64]) -> Prevalence:
    """Return the prevalence of clones; equal arguments give equal values with the same version of numpy.

    Args:
        probability: float64, shape (clones, cells): probability of each clone for each cell under equal
            prevalences, or any multiple of the likelihoods of a cell.
    """
    clones, cells = probability.shape
    relative = probability / probability.max(axis=0)
    most = int((relative > NEGLIGIBLE).sum(axis=0).max())
    places = np.argsort(-relative, axis=0, kind="stable")[:most].T  # (cells, most): the best clones
    likely = np.take_along_axis(relative.T, places, axis=1)
    generator = np.random.Generator(np.random.PCG64(_SEED))
    shares = np.full(clones, 1.0 / clones)
    draws = np.empty((min(DRAWS, max(LEAST_DRAWS, _WORK // likely.size)), clones))
    rows = np.arange(cells)
    for number in range(-BURN_IN, len(draws)):
        running = np.cumsum(likely * shares[places], axis=1)
        at = (running <= generator.random((cells, 1)) * running[:, -1:]).sum(axis=1)
        counts = np.bincount(places[rows, np.minimum(at, most - 1)], minlength=clones)
        gammas = generator.standard_gamma(1.0 + counts)
        shares = gammas / gammas.sum()
        if number >= 0:
            draws[number] = shares
    low, high = np.quantile(draws, INTERVAL, axis=0)
    return Prevalence(draws.mean(axis=0), low, high)
