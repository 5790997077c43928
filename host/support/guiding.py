"""Guides of the chains for support: learned from the samples of each round, for the next one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.guide import guide_from
from syclade.host.chains.plan import Plan
from syclade.host.samples.store import SampleStore

__all__ = ["GUIDED_PROBABILITIES", "MOST_GUIDED", "learned_guide"]

GUIDED_PROBABILITIES = (0.08, 0.04, 0.03, 0.5, 0.35)
"""Probabilities of `GUIDED_MOVES`: most effective samples per second in measurements (docs/samples.md)."""

MOST_GUIDED = 512
"""Most mutations of chains with a guide: its table grows with their square, and learning it takes samples."""


def learned_guide(plan: Plan, store: SampleStore) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that the later half of each chain's samples gives.

    Args:
        plan: the plan of the chains, with `GUIDED_MOVES`.
        store: samples of a round, at least two of some chain.
    """
    nodes, mutations = plan.labels + 1, plan.labels
    edges = np.zeros(mutations * nodes, dtype=np.int64)
    for chain in store.chains:
        skipped = store.count(chain) // 2
        for records in store.of_chain(chain):
            trees = records["parents"][skipped:, :mutations].astype(np.int64)
            skipped = max(0, skipped - len(records))
            edges += np.bincount((np.arange(mutations) * nodes + trees).ravel(), minlength=edges.size)
    return guide_from(edges.reshape(mutations, nodes), plan.problem.unit, plan.gamma)
