"""Chains with a recurrent mutation: what they meet, and mutations of their own in one plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.recurrent import with_recurrence
from syclade.host.chains.state import ChainState, recurrent_trees
from syclade.host.data.model.recurrence import kind_of
from tests.answer.recurrence.cases import RATE, matrix_with_copy, mutation_of, plan_of
from tests.chains.doublets.cases import chains
from tests.suites.rows.recurrent import CASES, STEPS, learned_plan, row
from tests.support.backends import NUMPY, Backend, assert_equal_chains, seen
from tests.support.leaf import on_every_own_backend

CHAINS = 3


def test_chains_meet_losses_and_recurrences_and_refuse_proposals() -> None:
    """The cases above would show little if their chains met one kind only, or no tree that is refused."""
    case = CASES["often accepted"]
    names = matrix_with_copy(case).mutations
    kinds = {
        kind_of(one.state.parents, mutation_of(case), names).kind
        for all_seen in row("often accepted", None).expected.at.values()
        for one in all_seen
    }
    assert len(kinds) == 2
    small = plan_of(CASES["two mutations"])
    accepted = sum(one.tallies[len(small.kinds) :].sum() for one in chains(NUMPY, small, 1, CHAINS, [400]))
    assert 0 < accepted < 3 * 400, "most trees of three mutations are refused"


def other_start(plan: Plan, mutation: int, chain: int) -> ChainState:
    """Return the first state of a chain of another recurrent mutation."""
    parents = recurrent_trees(mutation).initial(plan.labels, 1, chain)
    settings = {"recurrent": mutation}
    score = plan.score_of(parents, settings=settings)
    state = initial_state(plan, 1, chain)
    return replace(
        state, parents=parents, best_parents=parents, score=score, best_score=score, settings=settings
    )


@pytest.mark.parametrize("doublets", [None, RATE], ids=["max", "doublets"])
@on_every_own_backend
def test_chains_of_one_plan_have_mutations_of_their_own(backend: Backend, doublets: float | None) -> None:
    """The mutation is a setting of the slot: each chain equals one of a plan for its mutation."""
    case = CASES["small"]
    plan = plan_of(case, doublets)
    with backend.runner(plan, 3, 1) as runner:
        for slot, mutation in enumerate((0, 3, 7)):
            runner.put(slot, other_start(plan, mutation, slot))
        runner.advance(np.full(3, STEPS))
        together = [seen(runner, slot) for slot in range(3)]
    for slot, mutation in enumerate((0, 3, 7)):
        own = replace(
            plan,
            score=with_recurrence(plan.problem, mutation, doublets),
            space=recurrent_trees(mutation),
        )
        with backend.runner(own, 1, 1) as runner:
            runner.put(0, initial_state(own, 1, slot))
            runner.advance(np.array([STEPS]))
            assert_equal_chains(together[slot], seen(runner, 0))


def test_moves_of_fixed_rates_have_no_chance() -> None:
    """One kernel serves all sets of learned rates: with moves of all, some of them with probability 0."""
    kinds = ("jump of fn_rate", "jump of fp_rate", "jump of doublets")
    for name in ("errors beside doublets", "sum"):
        plan = learned_plan(name)
        assert plan.kinds[-4:-1] == kinds
        [seen] = chains(NUMPY, plan, 1, 1, [60])
        proposed = dict(zip(plan.kinds, seen.tallies[: len(plan.kinds)].tolist(), strict=True))
        assert proposed[kinds[0]] > 10
        assert proposed[kinds[1]] == proposed[kinds[2]] == 0
    assert "jump of fn_rate" not in plan_of(CASES["small"]).kinds
