"""Effective sample size of trees, and whether chains agree on who is above whom.

Sources: Magee, Karcher, Matsen, Minin, "How trustworthy is your tree? Bayesian phylogenetic effective sample
size through the lens of Monte Carlo error", arXiv:2109.07629 (Fréchet ESS: correlations from squared
distances). The squared distance here is the number of mutations with different parents: half the squared
Euclidean distance of the trees' edges. The spread of ancestor frequencies over chains is that of split
frequencies (ASDSF) in MrBayes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["ancestor_spread", "changes", "clade_ess", "frechet_ess", "spread_of"]

_LEAST_SHARE = 0.1
"""Relations that are rarer in every chain do not count, as in MrBayes."""


def frechet_ess(trees: NDArray[np.int32]) -> float:
    """How many independent trees one chain's samples are worth.

    Args:
        trees: int32, shape (samples, n + 1): parent vectors in the order in which they were sampled.

    Returns:
        From 1, also where the tree never changed, to the number of samples; nan for fewer than four.
    """
    return _ess(len(trees), _mean_distance(trees), lambda lag: _distance_at(trees, lag))


def clade_ess(trees: NDArray[np.int64]) -> float:
    """The same of trees that are told by their clades: the distance is the number of clades of one alone.

    Args:
        trees: int64, shape (samples, clades): numbers of the clades of each, all different.

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
    counts = np.bincount(places.ravel(), minlength=len(numbers))  # summed as integers, whatever their order

    def distance_at(lag: int) -> float:
        if lag == 0:
            return 0.0
        return width - float(has[lag:].multiply(has[:-lag]).sum()) / (count - lag)

    return _ess(count, width - int((counts**2).sum()) / count**2, distance_at)


def _ess(count: int, variance: float, distance_at: Callable[[int], float]) -> float:
    """From the mean distance of independent samples, and that of samples so many apart."""
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
    """How often a sample's tree is another than the one before.

    Args:
        trees: as for `frechet_ess` or `clade_ess`, of which numbers are sorted.
    """
    return int((trees[1:] != trees[:-1]).any(axis=1).sum())


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
    """The mean over relations of the standard deviation over chains of their frequencies; see `spread_of`.

    Args:
        shares: float64, shape (chains, n, n): in which share of each chain the row's mutation is
            above the column's.

    Returns:
        0 where all chains agree; nan for one chain, or where no relation is frequent enough.
    """
    return spread_of(shares)


def spread_of(shares: NDArray[np.float64]) -> float:
    """The mean standard deviation over chains of the frequencies of whatever trees may have.

    Args:
        shares: float64, shape (chains, ...).

    Returns:
        As `ancestor_spread`.
    """
    if len(shares) < 2:
        return float("nan")
    frequent = (shares >= _LEAST_SHARE).any(axis=0)
    return float(shares.std(axis=0, ddof=1)[frequent].mean()) if frequent.any() else float("nan")
