"""Chains that learn rates of errors and doublets: equal bits, the definition's scores, the posterior."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.recorders import every
from syclade.host.chains.scores.doublets import with_doublets
from syclade.host.chains.space import SUMMED_TREES
from syclade.host.chains.starts import initial_state
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan
from tests.chains.doublets.cases import (
    RATE,
    by_backend_and_name,
    chains,
    matrix_of,
    on_every_backend,
    rates_of,
)
from tests.support.backends import QUICKEST, Case, Seen, assert_equal_chains, assert_scores_are_right, seen
from tests.support.leaf import LEAF_NUMPY, LeafBackend

CASES = {
    "doublets": (Case(6, 13), {"learn_doublets": 0.4}),
    "all": (Case(8, 33, gamma=0.3), {"learn_doublets": 0.2, "learn_fn": 0.2, "learn_fp": 0.2}),
    "zygosity": (Case(7, 40, kind="zygosity"), {"learn_doublets": 0.2, "learn_fn": 0.2, "learn_fp": 0.1}),
    "errors alone": (Case(6, 20), {"learn_fn": 0.3}),
}
CHAINS, STEPS = 3, 60


def plan_of(name: str, *, samples: bool = False) -> Plan:
    case, learn = CASES[name]
    model = make_rate_model(rates_of(case), doublets=RATE, **learn)
    problem = make_problem(matrix_of(case), rates_of(case), octaves=True, model=model)
    return make_plan(
        problem,
        gamma=case.gamma,
        move_probabilities=case.moves,
        score=with_doublets(problem, RATE),
        space=SUMMED_TREES,
        recorders=(every(3),) if samples else (),
    )


def found(backend: LeafBackend, name: str) -> list[Seen]:
    return chains(backend, plan_of(name), CASES[name][0].seed, CHAINS, range(1, STEPS))


@cache
def numpy_chains(name: str) -> list[Seen]:
    """Return numpy's chains, whose scores are those of the definition."""
    plan, expected = plan_of(name), found(LEAF_NUMPY, name)
    for one in expected:
        assert_scores_are_right(plan, one.state)
    assert len({one.state.rate_at for one in expected}) > 10, "rates jump"
    return expected


@by_backend_and_name(CASES, everywhere=("all",), compiled=("errors alone",))
def test_every_backend_has_the_bits_of_numpy_and_the_score_of_the_definition(
    backend: LeafBackend, name: str
) -> None:
    for ours, expected in zip(found(backend, name), numpy_chains(name), strict=True):
        assert_equal_chains(ours, expected)


@on_every_backend
def test_a_chain_goes_on_in_another_slot(backend: LeafBackend) -> None:
    """Take a chain out after some steps, put it into a new runner, and compare with one that ran on."""
    plan = plan_of("all")
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


@on_every_backend
def test_samples_have_their_rates(backend: LeafBackend) -> None:
    plan = plan_of("all", samples=True)
    with backend.runner(plan, 2, 5) as runner:
        for slot in range(2):
            runner.put(slot, initial_state(plan, 5, slot))
        events = runner.advance(np.full(2, 60)).events
    assert len(events) > 20
    assert len({event.rate_at[2] for event in events}) > 3
    for event in events:
        assert plan.score_of(event.parents, rate_at=event.rate_at) == event.score


@pytest.fixture(scope="module", params=[3, 4])
def target(request: pytest.FixtureRequest) -> Target:
    return make_target(small_plan(request.param, 1.0, doublets=0.3, learn=True))


def check(target: Target, device: str, samples: int) -> PosteriorCase:
    return judge(target, sample_chain(target, choose_device(device), "auto", samples, seed=1, slots=512))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("device", "samples"),
    [
        pytest.param("numpy", 2000, marks=pytest.mark.verification),
        pytest.param("native", 100_000, marks=pytest.mark.verification),
        (QUICKEST, 20_000),
    ],
)
def test_the_chain_samples_rates_and_trees_from_their_posterior(
    target: Target, device: str, samples: int
) -> None:
    assert check(target, device, samples).holds


@pytest.mark.statistical
def test_the_chain_with_another_prior_does_not(target: Target) -> None:
    plan = small_plan(target.plan.problem.mutations, 1.0, doublets=0.6, learn=True)
    found = check(replace(target, plan=plan), QUICKEST, 20_000)
    assert not found.holds
    assert not found.visits.holds
