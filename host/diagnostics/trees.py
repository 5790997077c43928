"""Effective sample size of trees, and whether chains agree on who is above whom.

Sources: Magee, Karcher, Matsen, Minin, "How trustworthy is your tree? Bayesian phylogenetic effective sample
size through the lens of Monte Carlo error", arXiv:2109.07629 (Fréchet ESS: correlations from squared
distances). The squared distance here is the number of mutations with different parents: half the squared
Euclidean distance of the trees' edges. The spread of ancestor frequencies over chains is that of split
frequencies (ASDSF) in MrBayes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ancestor_spread", "frechet_ess"]

_LEAST_SHARE = 0.1
"""Relations that are rarer in every chain do not count, as in MrBayes."""


def frechet_ess(trees: NDArray[np.int32]) -> float:
    """How many independent trees one chain's samples are worth.

    Args:
        trees: int32, shape (samples, n + 1): parent vectors in the order in which they were sampled.

    Returns:
        From 1, also where the tree never changed, to the number of samples; nan for fewer than four.
    """
    count = len(trees)
    if count < 4:
        return float("nan")
    variance = _mean_distance(trees)
    if variance == 0:
        return 1.0
    total = 0.0
    last = np.inf
    for lag in range(0, count - 2, 2):
        pair = sum(1.0 - _distance_at(trees, one) / variance for one in (lag, lag + 1))
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return float(min(max(count / max(2.0 * total - 1.0, 1e-3), 1.0), count))


def _distance_at(trees: NDArray[np.int32], lag: int) -> float:
    """Mean squared distance of trees so many samples apart."""
    if lag == 0:
        return 0.0
    return float((trees[lag:] != trees[:-lag]).sum(axis=1).mean())


def _mean_distance(trees: NDArray[np.int32]) -> float:
    """Mean squared distance of two samples drawn independently: twice the Fréchet variance."""
    count = len(trees)
    equal = 0.0
    for parents in trees.T[:-1]:
        shares = np.unique(parents, return_counts=True)[1] / count
        equal += float((shares**2).sum())
    return (trees.shape[1] - 1) - equal


def ancestor_spread(shares: NDArray[np.float64]) -> float:
    """The mean over relations of the standard deviation over chains of their frequencies.

    Args:
        shares: float64, shape (chains, n, n): in which share of each chain the row's mutation is
            above the column's.

    Returns:
        0 where all chains agree; nan for one chain, or where no relation is frequent enough.
    """
    if len(shares) < 2:
        return float("nan")
    frequent = (shares >= _LEAST_SHARE).any(axis=0)
    return float(shares.std(axis=0, ddof=1)[frequent].mean()) if frequent.any() else float("nan")
