"""Chains with a recurrent mutation: every backend has the definition's scores, and the same bits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from syclade.host.chains.plan import Plan
from syclade.host.chains.recorders import every
from syclade.host.chains.scores.recurrent import with_recurrence
from syclade.host.chains.space import recurrent_trees
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.model.recurrence import is_allowed, kind_of
from tests.doublets.cases import by_backend_and_name, chains, on_every_backend
from tests.recurrent.cases import RATE, matrix_with_copy, mutation_of, plan_of
from tests.support.backends import Case, Seen, assert_equal_chains, assert_scores_are_right, seen
from tests.support.leaf import LEAF_NUMPY, LeafBackend

CASES = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 40, kind="duplicates"),
    "zygosity": Case(12, 70, kind="zygosity"),
    "often accepted": Case(9, 20, gamma=0.05, moves=(1.0, 1.0, 1.0)),
    "two mutations": Case(2, 5, gamma=0.3, moves=(1.0, 1.0, 1.0)),
    "nothing observed": Case(5, 4, kind="nothing"),
}
CHAINS = 3
STEPS = 40

with_and_without_doublets = pytest.mark.parametrize("doublets", [None, RATE], ids=["max", "doublets"])


def found(backend: LeafBackend, name: str, doublets: float | None, score: str = "max") -> list[Seen]:
    case = CASES[name]
    return chains(backend, plan_of(case, doublets, name=score), case.seed, CHAINS, range(1, STEPS))


@cache
def numpy_chains(name: str, doublets: float | None, score: str = "max") -> list[Seen]:
    """Return numpy's chains: their trees are allowed, and their scores are those of the definition."""
    plan, expected = plan_of(CASES[name], doublets, name=score), found(LEAF_NUMPY, name, doublets, score)
    for one in expected:
        assert_scores_are_right(plan, one.state)
        assert is_allowed(one.state.parents, mutation_of(CASES[name]))
    return expected


@with_and_without_doublets
@by_backend_and_name(CASES, everywhere=("small",))
def test_every_backend_has_the_bits_of_numpy_and_the_score_of_the_definition(
    backend: LeafBackend, name: str, doublets: float | None
) -> None:
    for ours, expected in zip(found(backend, name, doublets), numpy_chains(name, doublets), strict=True):
        assert_equal_chains(ours, expected)


@on_every_backend
def test_the_sum_score_has_the_bits_of_numpy_and_of_the_definition(backend: LeafBackend) -> None:
    """It runs the kernel of scores with doublets, with other settings."""
    expected = numpy_chains("small", None, "sum")
    for ours, one in zip(found(backend, "small", None, "sum"), expected, strict=True):
        assert_equal_chains(ours, one)


def test_chains_meet_losses_and_recurrences_and_refuse_proposals() -> None:
    """The cases above would show little if their chains met one kind only, or no tree that is refused."""
    case = CASES["often accepted"]
    names = matrix_with_copy(case).mutations
    kinds = {
        kind_of(one.state.parents, mutation_of(case), names).kind
        for one in numpy_chains("often accepted", None)
    }
    assert len(kinds) == 2
    small = plan_of(CASES["two mutations"])
    accepted = sum(
        one.tallies[len(small.kinds) :].sum() for one in chains(LEAF_NUMPY, small, 1, CHAINS, [400])
    )
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


@with_and_without_doublets
@on_every_backend
def test_chains_of_one_plan_have_mutations_of_their_own(backend: LeafBackend, doublets: float | None) -> None:
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


@with_and_without_doublets
@on_every_backend
def test_samples_have_their_scores(backend: LeafBackend, doublets: float | None) -> None:
    case = CASES["often accepted"]
    plan = plan_of(case, doublets, (every(3),))
    with backend.runner(plan, 2, 5) as runner:
        for slot in range(2):
            runner.put(slot, initial_state(plan, 5, slot))
        events = runner.advance(np.full(2, 60)).events
    assert len(events) > 20
    for event in events:
        assert plan.score_of(event.parents) == event.score


@with_and_without_doublets
@on_every_backend
def test_a_chain_goes_on_in_another_slot(backend: LeafBackend, doublets: float | None) -> None:
    plan = plan_of(CASES["small"], doublets)
    with backend.runner(plan, 1, 5) as runner:
        runner.put(0, initial_state(plan, 5, 7))
        runner.advance(np.array([25]))
        between, info = runner.get(0), runner.info(0)
        runner.advance(np.array([50]))
        through = seen(runner, 0)
    with backend.runner(plan, 2, 5) as runner:
        runner.put(1, between, info)
        runner.put(0, initial_state(plan, 5, 1))
        runner.advance(np.array([10, 50]))
        assert_equal_chains(seen(runner, 1), through)
