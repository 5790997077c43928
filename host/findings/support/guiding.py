"""Guides of the chains for support: learned from the samples of each round, for the next one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.guide import guide_from
from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.findings.support.slow_mutations import proposal_weights

__all__ = ["GUIDED_PROBABILITIES", "MOST_GUIDED", "learned_guide"]

GUIDED_PROBABILITIES = (0.08, 0.04, 0.03, 0.5, 0.35)
"""Probabilities of `GUIDED_MOVES`: most effective samples per second in measurements (docs/samples.md)."""

MOST_GUIDED = 1024
"""Most mutations of chains with a guide: its table grows with their square, and learning it takes samples."""


def learned_guide(plan: Plan, store: SampleStore) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that the later half of each chain's samples gives.

    Args:
        plan: the plan of the chains, with `GUIDED_MOVES`.
        store: samples of a round, at least two of some chain.
    """
    chains = [trees[len(trees) // 2 :] for trees in store.trees_by_chain()]
    edges = _edges(np.concatenate(chains))
    return guide_from(edges, proposal_weights(chains), plan.problem.unit, plan.gamma)


def _edges(trees: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many trees have each parent (column) of each mutation: int64, shape (n, n + 1)."""
    mutations = trees.shape[1] - 1
    pairs = np.arange(mutations) * (mutations + 1) + trees[:, :mutations]
    return np.bincount(pairs.ravel(), minlength=mutations * (mutations + 1)).reshape(mutations, -1)
