"""Guides of the chains for support, learned from the samples of each round; and their first trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.moves import guide_from
from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.trees.tree import depths_of_trees
from syclade.host.findings.support.silent import Silent

__all__ = [
    "GUIDED_PROBABILITIES",
    "MOST_GUIDED",
    "learned_guide",
    "proposal_weights",
    "spread_out",
]


GUIDED_PROBABILITIES = (0.08, 0.04, 0.03, 0.5, 0.35)
"""Probabilities of `GUIDED_MOVES`: most effective samples per second in measurements (docs/samples.md)."""

MOST_GUIDED = 1024
"""Most mutations of chains with a guide: its table grows with their square, and learning it takes samples."""


def learned_guide(plan: Plan, silent: Silent, store: SampleStore) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that the later half of each chain's samples gives.

    Args:
        plan: the plan of the chains, with `GUIDED_MOVES`.
        silent: mutations that it leaves out.
        store: samples of a round, at least two of some chain.
    """
    chains = [silent.of_trees(trees[len(trees) // 2 :]) for trees in store.trees_by_chain()]
    edges = _edges(np.concatenate(chains))
    return guide_from(edges, proposal_weights(chains), plan.problem.unit, plan.gamma)


def _edges(trees: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many trees have each parent (column) of each mutation: int64, shape (n, n + 1)."""
    mutations = trees.shape[1] - 1
    pairs = np.arange(mutations) * (mutations + 1) + trees[:, :mutations]
    return np.bincount(pairs.ravel(), minlength=mutations * (mutations + 1)).reshape(mutations, -1)


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
    found = np.stack([depths_of_trees(trees[: step * batch * _BATCHES : step]) for trees in chains])
    sums = found.reshape(-1, batch, found.shape[2]).sum(axis=1)
    total = sums.sum(axis=0)
    of_mean = total * total / found[..., 0].size
    between = (sums * sums).sum(axis=0) / batch - of_mean
    among = (found * found).sum(axis=(0, 1)) - of_mean
    time = np.divide(batch * between, among, out=np.ones_like(among), where=among > 0)
    weights = np.rint(_UNIT * np.sqrt(np.maximum(time, 1)))
    return np.asarray(weights, dtype=np.int64)


def spread_out(
    best: NDArray[np.int32], others: Sequence[NDArray[np.int32]], count: int
) -> list[NDArray[np.int32]]:
    """Return the best tree, and then always the tree that differs most from those already chosen.

    The difference of two trees is the number of mutations with different parents; of equally different trees
    the first is taken. If there are fewer different trees than wanted, they are taken again, in turns.

    Args:
        best: int32, shape (n + 1,): the best tree.
        others: other trees, such as those of all searches.
        count: number of trees.
    """
    chosen = [best]
    distance = np.array([np.count_nonzero(tree != best) for tree in others])
    while len(chosen) < count and distance.any():
        tree = others[int(distance.argmax())]
        chosen.append(tree)
        distance = np.minimum(distance, [np.count_nonzero(other != tree) for other in others])
    return [chosen[number % len(chosen)] for number in range(count)]
