"""Cells as a mixture of clones: the clone of each cell and the prevalence of each clone, by Gibbs sampling.

A priori, all combinations of prevalences are equally likely. The clone of each cell is drawn by the
prevalences, and its observations follow from the clone. So a cell that fits several clones counts for those
that have clear cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import short_repr

__all__ = ["Mixture", "mixture_of"]

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
class Mixture:
    """Posterior of the clones of cells.

    Attributes:
        probability: float64, shape (clones, cells): probability of each clone for each cell.
        low, high: float64, shape (clones,): ends of the central 90 % of each clone's share of the tissue that
            the cells are from. Given the clones of all cells, n of N in this one, the share has Jeffreys'
            posterior, Beta(n + 1/2, N - n + 1/2).
    """

    probability: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def expected(self) -> NDArray[np.float64]:
        """float64, shape (clones,): expected number of cells of each clone itself."""
        return np.asarray(self.probability.sum(axis=1))

    @property
    def prevalence(self) -> NDArray[np.float64]:
        """float64, shape (clones,): expected part of the cells that are of each clone itself."""
        return self.expected / self.probability.shape[1]


def mixture_of(likelihood: NDArray[np.float64]) -> Mixture:
    """Return the posterior; equal arguments give equal values with the same version of numpy.

    Args:
        likelihood: float64, shape (clones, cells): likelihood of each clone for each cell, or any multiple of
            those of a cell.
    """
    clones, cells = likelihood.shape
    relative, kind, sizes = np.unique(  # cells with equal likelihoods are drawn together
        likelihood / likelihood.max(axis=0), axis=1, return_inverse=True, return_counts=True
    )
    most = int((relative > NEGLIGIBLE).sum(axis=0).max())
    places = np.argsort(-relative, axis=0, kind="stable")[:most].T  # (kinds, most): the best clones
    likely = np.take_along_axis(relative.T, places, axis=1)
    generator = np.random.Generator(np.random.PCG64(_SEED))
    shares = np.full(clones, 1.0 / clones)
    draws = np.empty((min(DRAWS, max(LEAST_DRAWS, _WORK // likely.size)), clones))
    total = np.zeros(likely.shape)
    for number in range(-BURN_IN, len(draws)):
        weights = likely * shares[places]
        weights /= weights.sum(axis=1, keepdims=True)
        drawn = generator.multinomial(sizes, weights)
        counts = np.bincount(places.ravel(), weights=drawn.ravel(), minlength=clones)
        gammas = generator.standard_gamma(1.0 + counts)
        shares = gammas / gammas.sum()
        if number >= 0:
            draws[number] = counts
            total += weights
    probability = np.zeros((len(sizes), clones))
    np.put_along_axis(probability, places, total / len(draws), axis=1)
    low, high = np.quantile(generator.beta(draws + 0.5, cells - draws + 0.5), INTERVAL, axis=0)
    found = Mixture(np.ascontiguousarray(probability[kind.ravel()].T), low, high)
    # of a clone with no cell or with all of them, Jeffreys' interval reaches to 0 or to 1
    return replace(found, low=np.minimum(low, found.prevalence), high=np.maximum(high, found.prevalence))
