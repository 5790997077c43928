"""Learned error rates: the chain is the oracle's, step by step and bit by bit, on every backend."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends import Runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.recorders import EQUAL_BEST, NEW_BEST, Event, every
from syclade.host.chains.starts import initial_state
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import OptionError
from tests.support.backends import (
    DEVICES,
    NUMPY,
    Backend,
    Case,
    Seen,
    assert_equal_chains,
    assert_scores_are_right,
    marks_of,
    seen,
    stops_of,
)
from tests.support.learned import Learning, learned_plan, oracle_chain
from tests.support.own_sizes import by_backend, by_backend_and_case, is_built_apart, is_native

CHAINS, STEPS = 3, 160
STOPS = (1, 2, 17, 90, STEPS)
CASES = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 33, kind="duplicates"),
    "zygosity": Case(20, 33, kind="zygosity"),
    "one mutation": Case(1, 5),
    "flat": Case(8, 13, gamma=0.05),
    "panels": Case(12, 900),
}
ALL = [*(Backend(device, "preorder") for device in DEVICES), Backend("native", "general")]
NATIVE = [one for one in ALL if is_native(one)]
"""Compiled in half a minute each; `test_one_rate_alone` runs the precompiled kernel of FN rates."""

on_most_backends = by_backend([*ALL, NUMPY], compiles=is_native)


def started(backend: Backend, runner: Runner, plan: Plan, case: Case) -> Runner:
    for chain in range(CHAINS):
        runner.put(chain, initial_state(plan, case.seed, chain))
    return runner


@cache
def traces(name: str, fn: bool = True, fp: bool = True) -> list[list[Learning]]:
    case = CASES[name]
    plan = learned_plan(case, fn=fn, fp=fp)
    return [oracle_chain(plan, case, chain, STEPS) for chain in range(CHAINS)]


def assert_is(found: Seen, expected: Learning, rates: list[int]) -> None:
    state = found.state
    assert state.score == expected.score
    assert state.rate_at == expected.places
    assert tuple(state.parents.tolist()) == expected.tree
    assert (state.best_score, state.best_rate_at) == (expected.best_score, expected.best_places)
    assert tuple(state.best_parents.tolist()) == expected.best
    kinds = len(found.tallies) // 2
    for half in range(2):
        jumps = found.tallies[half * kinds + 4 : half * kinds + 4 + len(rates)].tolist()
        assert jumps == [expected.jumps[half * 2 + rate] for rate in rates]


@by_backend_and_case(
    [*ALL, NUMPY],
    {name: (name, CASES[name]) for name in ("small", "zygosity", "one mutation", "flat")},
    everywhere=["small"],
    compiles=is_built_apart,
    apart=NATIVE,
)
def test_every_step_is_the_oracles(backend: Backend, case: tuple[str, Case]) -> None:
    name, of = case
    plan = learned_plan(of)
    with backend.runner(plan, CHAINS, of.seed) as runner:
        started(backend, runner, plan, of)
        for done in stops_of(backend, STEPS):
            runner.advance(np.full(CHAINS, done))
            for chain in range(CHAINS):
                found = seen(runner, chain)
                assert_is(found, traces(name)[chain][done - 1], [0, 1])
                assert_scores_are_right(plan, found.state)


_verified = [pytest.mark.verification]


def one_rate_alone() -> list[Any]:
    """Return both rates on all backends; the package's general kernel for this processor learns FN rates."""
    return [
        pytest.param(
            backend,
            fn,
            not fn,
            id=f"{backend.device}-{backend.encoding}-{'fn' if fn else 'fp'}",
            marks=[*marks_of(backend), *(_verified if is_native(backend) and not at_hand else [])],
        )
        for backend in [*ALL, NUMPY]
        for fn in (True, False)
        for at_hand in [fn and backend.encoding == "general"]
    ]


@pytest.mark.parametrize(("backend", "fn", "fp"), one_rate_alone())
def test_one_rate_alone(backend: Backend, fn: bool, fp: bool) -> None:
    case = CASES["small"]
    plan = learned_plan(case, fn=fn, fp=fp)
    with backend.runner(plan, CHAINS, case.seed) as runner:
        started(backend, runner, plan, case).advance(np.full(CHAINS, STEPS))
        for chain in range(CHAINS):
            last = traces("small", fn, fp)[chain][-1]
            assert_is(seen(runner, chain), last, [0] if fn else [1])
            assert last.places[1 if fn else 0] == 0


SUMMED = Case(20, 30, kind="zygosity")
"""It has the kernel of the posterior check; the package has none of learned rates and the sum score."""

SCORED = {f"{name}-max": (case, "max") for name, case in CASES.items()} | {
    "small-sum": (CASES["small"], "sum"),
    "zygosity-sum": (SUMMED, "sum"),
}


@cache
def numpy_chains(case: Case, score: str) -> list[Seen]:
    """Return numpy's chains at each of STOPS, whose scores are those of the definition."""
    plan = learned_plan(case, score=score)
    found = chains(NUMPY, plan, case)
    for one in found:
        assert_scores_are_right(plan, one.state)
    return found


def chains(backend: Backend, plan: Plan, case: Case) -> list[Seen]:
    with backend.runner(plan, CHAINS, case.seed) as runner:
        started(backend, runner, plan, case)
        found = []
        for stop in STOPS:
            runner.advance(np.full(CHAINS, stop))
            found += [seen(runner, chain) for chain in range(CHAINS)]
    return found


@by_backend_and_case(
    ALL,
    SCORED,
    everywhere=["small-max"],
    compiles=is_built_apart,
    apart=NATIVE,
    later=["small-sum"],
)
def test_every_backend_gives_the_same_bits(backend: Backend, case: tuple[Case, str]) -> None:
    of, score = case
    found = chains(backend, learned_plan(of, score=score), of)
    for ours, expected in zip(found, numpy_chains(of, score), strict=True):
        assert_equal_chains(ours, expected)


@on_most_backends
def test_chains_go_on_elsewhere(backend: Backend) -> None:
    """States move between backends: half of the steps run on one, half in numpy, in both orders."""
    case = CASES["duplicates"]
    plan = learned_plan(case)
    for first, second in ((backend, NUMPY), (NUMPY, backend)):
        with first.runner(plan, CHAINS, case.seed) as runner:
            started(first, runner, plan, case).advance(np.full(CHAINS, 70))
            half = [seen(runner, chain) for chain in range(CHAINS)]
        with second.runner(plan, CHAINS, case.seed) as runner:
            for slot, one in enumerate(reversed(half)):
                runner.put(slot, one.state, one.info)
            runner.advance(np.full(CHAINS, STEPS))
            for slot, chain in enumerate(reversed(range(CHAINS))):
                assert_is(seen(runner, slot), traces("duplicates")[chain][-1], [0, 1])


@on_most_backends
def test_events_tell_the_rates(backend: Backend) -> None:
    """The recorders and the rate are those of a precompiled kernel."""
    case = CASES["small"]
    learned = learned_plan(case, fp=False)
    plan = make_plan(learned.problem, recorders=(NEW_BEST, EQUAL_BEST, every(9)), events=4)
    events: list[Event] = []
    with backend.runner(plan, CHAINS, case.seed) as runner:
        started(backend, runner, plan, case)
        reached = False
        while not reached:
            advanced = runner.advance(np.full(CHAINS, STEPS))
            reached = bool((advanced.steps == STEPS).all())
            events += advanced.events
    told = {(event.chain, event.step): event for event in events}
    assert {step for chain, step in told if not step % 9} == set(range(9, STEPS + 1, 9))
    for chain, trace in enumerate(traces("small", fp=False)):
        for step, state in enumerate(trace, 1):
            event = told.pop((chain, step), None)
            assert (event is not None) >= (step % 9 == 0)
            if event is not None:
                assert (event.score, event.rate_at) == (state.score, state.places)
                assert tuple(event.parents.tolist()) == state.tree
    assert not told


@pytest.mark.sycl
def test_encodings_say_why_they_cannot() -> None:
    problem = learned_plan(CASES["small"]).problem
    with pytest.raises(OptionError, match=r"ancestor cannot hold this matrix: .* rates shall be learned"):
        choose_encoding("ancestor", choose_device("cpu"), problem)
    assert choose_encoding("auto", choose_device("fpga-emu"), problem).name == "preorder"
