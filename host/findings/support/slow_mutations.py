"""Slow mutations: those whose depth changes slowly along the chains get more of the guided proposals.

The time is the integrated autocorrelation time of the depth, from batch means around the mean of all chains
(Geyer, Practical Markov chain Monte Carlo, 1992, section 3.2). Sums are of integers and exact, so every
machine has the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.levels import depths

__all__ = ["proposal_weights"]

_BATCHES = 16
"""Batches of each chain."""

_TREES = 512
"""Most trees of each chain, evenly spaced."""

_UNIT = 4
"""Weight of a mutation whose depth differs independently from tree to tree."""


def proposal_weights(chains: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Return how often to propose each mutation: in proportion to the root of its time, at least `_UNIT`.

    Args:
        chains: sampled trees of each chain, int32, shape (trees, n + 1).

    Returns:
        int64, shape (n,): all `_UNIT` if a chain has fewer than 16 trees.
    """
    length = min(len(trees) for trees in chains)
    step = max(1, length // _TREES)
    batch = length // step // _BATCHES
    if batch == 0:
        return np.full(chains[0].shape[1] - 1, _UNIT)
    found = np.stack([depths(trees[: step * batch * _BATCHES : step]) for trees in chains])
    sums = found.reshape(-1, batch, found.shape[2]).sum(axis=1)
    total = sums.sum(axis=0)
    of_mean = total * total / found[..., 0].size
    between = (sums * sums).sum(axis=0) / batch - of_mean
    among = (found * found).sum(axis=(0, 1)) - of_mean
    time = np.divide(batch * between, among, out=np.ones_like(among), where=among > 0)
    weights = np.rint(_UNIT * np.sqrt(np.maximum(time, 1)))
    return np.asarray(weights, dtype=np.int64)
