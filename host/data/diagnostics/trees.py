"""Effective sample size of trees, and agreement of chains on ancestor relations.

Sources: Magee, Karcher, Matsen, Minin, "How trustworthy is your tree? Bayesian phylogenetic effective sample
size through the lens of Monte Carlo error", arXiv:2109.07629 (Fréchet ESS: correlations from squared
distances). The squared distance here is the number of mutations with different parents: half the squared
Euclidean distance of the trees' edges. The spread of ancestor frequencies over chains corresponds to that of
split frequencies (ASDSF) in MrBayes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["ancestor_spread", "changes", "clade_ess", "frechet_ess", "spread_of"]

_LEAST_SHARE = 0.1
"""Relations that are rarer than this in every chain do not count, as in MrBayes."""


def frechet_ess(trees: NDArray[np.int32]) -> float:
    """Return the Fréchet effective sample size of one chain's trees.

    Args:
        trees: int32, shape (samples, n + 1): parent vectors in the order in which they were sampled.

    Returns:
        Between 1 (also if the tree never changed) and the number of samples; nan for fewer than four samples.
    """
    return _ess(len(trees), _mean_distance(trees), lambda lag: _distance_at(trees, lag))


def clade_ess(trees: NDArray[np.int64]) -> float:
    """Return the Fréchet effective sample size of trees given by their clades.

    The distance of two trees is the number of clades of one that the other does not have.

    Args:
        trees: int64, shape (samples, clades): the clade numbers of each tree, all different.

    Returns:
        As `frechet_ess`.
    """
    from scipy import sparse

    count, width = trees.shape if trees.ndim == 2 else (len(trees), 0)
    if count < 4:
        return float("nan")
    numbers, places = np.unique(trees, return_inverse=True)
    rows = np.repeat(np.arange(count), width)
    has = sparse.csr_array(
        (np.ones(rows.size), (rows, places.ravel())), shape=(count, len(numbers)), dtype=np.float64
    )
    counts = np.bincount(places.ravel(), minlength=len(numbers))  # integer sums: their order does not matter

    def distance_at(lag: int) -> float:
        if lag == 0:
            return 0.0
        return width - float(has[lag:].multiply(has[:-lag]).sum()) / (count - lag)

    return _ess(count, width - int((counts**2).sum()) / count**2, distance_at)


def _ess(count: int, variance: float, distance_at: Callable[[int], float]) -> float:
    """Compute the effective sample size.

    Args:
        count: number of samples.
        variance: mean distance of two independent samples.
        distance_at: (lag) -> mean distance of samples that far apart.
    """
    if count < 4:
        return float("nan")
    if variance <= 1e-12:
        return 1.0
    total = 0.0
    last = np.inf
    for lag in range(0, count - 2, 2):
        pair = sum(1.0 - distance_at(one) / variance for one in (lag, lag + 1))
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return float(min(max(count / max(2.0 * total - 1.0, 1e-3), 1.0), count))


def changes(trees: NDArray[np.int32] | NDArray[np.int64]) -> int:
    """Count the samples whose tree differs from the one before.

    Args:
        trees: as for `frechet_ess`, or as for `clade_ess` with sorted clade numbers.
    """
    return int((trees[1:] != trees[:-1]).any(axis=1).sum())


def _distance_at(trees: NDArray[np.int32], lag: int) -> float:
    """Return the mean squared distance of trees `lag` samples apart."""
    if lag == 0:
        return 0.0
    return float((trees[lag:] != trees[:-lag]).sum(axis=1).mean())


def _mean_distance(trees: NDArray[np.int32]) -> float:
    """Return the mean squared distance of two samples drawn independently: twice the Fréchet variance."""
    count = len(trees)
    equal = 0.0
    for parents in trees.T[:-1]:
        shares = np.unique(parents, return_counts=True)[1] / count
        equal += float((shares**2).sum())
    return (trees.shape[1] - 1) - equal


def ancestor_spread(shares: NDArray[np.float64]) -> float:
    """Return the mean standard deviation over chains of the frequencies of ancestor relations.

    Args:
        shares: float64, shape (chains, n, n): share of each chain's samples in which the row's mutation is
            above the column's.

    Returns:
        0 if all chains agree; nan for one chain, or if no relation is frequent enough.
    """
    return spread_of(shares)


def spread_of(shares: NDArray[np.float64]) -> float:
    """Return the mean standard deviation over chains of the frequencies of features of trees.

    Args:
        shares: float64, shape (chains, ...): share of each chain's samples with each feature.

    Returns:
        As `ancestor_spread`.
    """
    if len(shares) < 2:
        return float("nan")
    frequent = (shares >= _LEAST_SHARE).any(axis=0)
    return float(shares.std(axis=0, ddof=1)[frequent].mean()) if frequent.any() else float("nan")
