"""States of chains before their first step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.doublet_shares import scores_with_doublets
from syclade.host.chains.plan import Plan
from syclade.host.chains.shares import score_with_shares, uniform_log_shares
from syclade.host.chains.space import SUMMED_TREES
from syclade.host.chains.state import ChainState
from syclade.host.data.model.pairs import Forest

__all__ = ["initial_state", "state_at"]


def initial_state(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain before its first step: a uniformly random tree of the plan's space, and its score."""
    return state_at(plan, plan.space.initial(plan.labels, seed, chain), chain)


def state_at(plan: Plan, parents: NDArray[np.int32], chain: int, step: int = 0) -> ChainState:
    """Return the state of a chain at a tree, which is also its best tree so far; nodes have equal shares."""
    if plan.score.shares:
        logs = uniform_log_shares(plan.problem)
        rates = replace(plan.problem.rates, log_shares=logs)
        score = _score_with_shares(plan, parents, logs)
        return ChainState(chain, step, parents, score, parents, score, rates, plan.gamma)
    score, at = plan.score_of(parents), plan.start_rates
    return ChainState(
        chain, step, parents, score, parents, score, plan.problem.rates, plan.gamma,
        rate_at=at, best_rate_at=at,
    )  # fmt: skip


def _score_with_shares(plan: Plan, parents: NDArray[np.int32], logs: tuple[int, ...]) -> int:
    """Return the score of a tree with shares of the nodes, with or without doublets."""
    if plan.space is SUMMED_TREES:
        return int(scores_with_doublets(plan, Forest(parents[None]), np.array([logs], dtype=np.int64))[0])
    return score_with_shares(plan.problem, parents, logs, plan.settings["sum_spare"])
