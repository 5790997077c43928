"""States of chains before their first step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.shares import uniform_log_shares
from syclade.host.chains.state import ChainState

__all__ = ["initial_state", "state_at"]


def initial_state(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain before its first step: a uniformly random tree of the plan's space, and its score."""
    return state_at(plan, plan.space.initial(plan.labels, seed, chain), chain)


def state_at(plan: Plan, parents: NDArray[np.int32], chain: int, step: int = 0) -> ChainState:
    """Return the state of a chain at a tree, which is also its best tree so far; nodes have equal shares."""
    if plan.score.shares:
        rates = replace(plan.problem.rates, log_shares=uniform_log_shares(plan.problem))
        score = plan.score_of(parents, rates)
        return ChainState(chain, step, parents, score, parents, score, rates, plan.gamma)
    score, at = plan.score_of(parents), plan.start_rates
    return ChainState(
        chain, step, parents, score, parents, score, plan.problem.rates, plan.gamma,
        rate_at=at, best_rate_at=at,
    )  # fmt: skip
