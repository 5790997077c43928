"""Chains with a recurrent mutation: every backend has the definition's scores, and the same bits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from syclade.host.chains.plan import Plan
from syclade.host.chains.recorders import Recorder, every
from syclade.host.chains.scores.recurrent import with_recurrence
from syclade.host.chains.space import recurrent_trees
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.data.model.recurrence import is_allowed, kind_of
from tests.answer.recurrence.cases import RATE, matrix_with_copy, mutation_of, plan_of
from tests.chains.doublets.cases import by_backend_and_name, chains, on_every_backend
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


JUMPING_STEPS = 25

LEARNED: dict[str, tuple[str, float | None, str, dict[str, float]]] = {
    "max": ("often accepted", None, "max", {"learn_fn": 0.2, "learn_fp": 0.2}),
    "doublets": ("often accepted", RATE, "max", {"learn_fn": 0.2, "learn_fp": 0.1, "learn_doublets": 0.2}),
    "errors beside doublets": ("missing", RATE, "max", {"learn_fn": 0.3}),
    "sum": ("small", None, "sum", {"learn_fn": 0.3}),
    "zygosity": ("zygosity", None, "max", {"learn_fn": 0.3}),
}
"""Learned rates: name of the case, rate of doublets, score, and probabilities of jumps."""


def learned_plan(name: str, recorders: tuple[Recorder, ...] = ()) -> Plan:
    case, doublets, score, learn = LEARNED[name]
    return plan_of(CASES[case], doublets, recorders, name=score, learn=learn)


@cache
def numpy_learned(name: str) -> list[Seen]:
    """Return numpy's chains, whose scores are those of the definition, and whose rates jump."""
    plan = learned_plan(name)
    expected = chains(LEAF_NUMPY, plan, 1, CHAINS, range(1, JUMPING_STEPS))
    for one in expected:
        assert_scores_are_right(plan, one.state)
    learned = [rate for rate, grid in enumerate(plan.problem.rate_tables.model.grids) if grid is not None]
    for rate in range(3):
        assert (len({one.state.rate_at[rate] for one in expected}) > 2) == (rate in learned)
    return expected


@by_backend_and_name(LEARNED, everywhere=("doublets",))
def test_learned_rates_have_the_bits_of_numpy_and_the_score_of_the_definition(
    backend: LeafBackend, name: str
) -> None:
    found = chains(backend, learned_plan(name), 1, CHAINS, range(1, JUMPING_STEPS))
    for ours, expected in zip(found, numpy_learned(name), strict=True):
        assert_equal_chains(ours, expected)


@pytest.mark.parametrize("name", ["max", "doublets"])
@on_every_backend
def test_samples_of_learned_rates_have_their_scores(backend: LeafBackend, name: str) -> None:
    plan = learned_plan(name, (every(3),))
    with backend.runner(plan, 2, 5) as runner:
        for slot in range(2):
            runner.put(slot, initial_state(plan, 5, slot))
        events = runner.advance(np.full(2, 60)).events
    assert len(events) > 20
    for rate in range(2 if name == "max" else 3):
        assert len({event.rate_at[rate] for event in events}) > 2
    for event in events:
        assert plan.score_of(event.parents, rate_at=event.rate_at) == event.score


@pytest.mark.parametrize("name", ["max", "doublets"])
@on_every_backend
def test_a_chain_with_learned_rates_goes_on_in_another_slot(backend: LeafBackend, name: str) -> None:
    plan = learned_plan(name)
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


def test_moves_of_fixed_rates_have_no_chance() -> None:
    """One kernel serves all sets of learned rates: with moves of all, some of them with probability 0."""
    kinds = ("jump of fn_rate", "jump of fp_rate", "jump of doublets")
    for name in ("errors beside doublets", "sum"):
        plan = learned_plan(name)
        assert plan.kinds[-4:-1] == kinds
        [seen] = chains(LEAF_NUMPY, plan, 1, 1, [60])
        proposed = dict(zip(plan.kinds, seen.tallies[: len(plan.kinds)].tolist(), strict=True))
        assert proposed[kinds[0]] > 10
        assert proposed[kinds[1]] == proposed[kinds[2]] == 0
    assert "jump of fn_rate" not in plan_of(CASES["small"]).kinds
