"""Batched stages, in which many threads work on one search: the bits of the other form, without a GPU.

Their code runs in Python here: by one thread, and by threads that take turns at random where they meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from syclade.host.chains.search.kernel import (
    BATCHED_STAGES,
    STAGES,
    SearchState,
    Work,
    batched_kernel,
    batched_sizes,
    fresh_state,
    search_arrays,
    search_sizes,
    slots_for,
    teams_for,
)
from syclade.host.chains.search.policy import Phase, SearchPolicy, policy_for
from syclade.host.chains.search.problem import SearchProblem, make_search_problem
from syclade.host.chains.search.runner import SearchRunner, make_search_runner
from syclade.host.chains.search.search import run_search
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.device.engines import Allocation
from syclade.kernels.search.batched.arguments import BATCHED_ARGUMENTS
from tests.support.searches import assert_equal_searches
from tests.support.teams import Shape, TeamsEngine

ALONE, TEAMS = Shape(1, 1, 1), Shape(2, 2, 2)
SWEEPS = ("estimated", "subtrees", "regraft", "exact")


def problem(cells: int = 12, mutations: int = 10, coarse: bool = False) -> SearchProblem:
    """Return a problem; in a coarse one most places are as good as others."""
    made = make_search_problem(
        make_problem(simulate(cells, mutations, 0.05, 0.3, 0.1, 2).matrix, Rates(0.01, 0.2))
    )
    if coarse:
        weights = np.sign(made.weights)
        made = SearchProblem(mutations, weights, made.falling, made.fullest, 1.0, 0.0)
    return made


def numpy_runner(given: SearchProblem) -> SearchRunner:
    return make_search_runner(choose_device("numpy"), given, 1, 7, by_columns=True)


def batched_runner(given: SearchProblem, shape: Shape) -> SearchRunner:
    """Return a runner of one search by threads in Python."""
    sizes = batched_sizes(search_sizes(given, 1, True, 16), shape.teams)
    arrays = search_arrays(given, sizes, 7)
    engine = TeamsEngine(choose_device("python"), Allocation(BATCHED_ARGUMENTS, sizes, arrays))
    engine.shape = shape
    return SearchRunner(given, engine, lambda stage: engine.load(batched_kernel(stage)), "general")


def after(runner: SearchRunner, state: SearchState, work: Work) -> SearchState:
    """Return a search after some work."""
    runner.put(0, state)
    runner.run([work])
    return runner.get(0)


def compared(given: SearchProblem, shape: Shape, works: Sequence[Work]) -> Iterator[SearchState]:
    """Compare both forms after each piece of work, on the state after the one before; yield the states."""
    one, other, state = batched_runner(given, shape), numpy_runner(given), fresh_state(3, given.mutations)
    for work in works:
        expected = after(other, state, work)
        assert_equal_searches(after(one, state, work), expected, work)
        state = expected
        yield state


def test_every_stage_has_a_batched_form() -> None:
    assert set(BATCHED_STAGES) == set(STAGES)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("start", ["by-mutations", "by-columns"])
def test_a_thread_has_the_bits_of_numpy(start: str, coarse: bool) -> None:
    works = [Work(start), *(Work(one, 1, gamma) for gamma in (0.7, None) for one in SWEEPS)]
    states = list(compared(problem(coarse=coarse), ALONE, works))
    assert len({tuple(one.parents.tolist()) for one in states}) > 3


@pytest.mark.parametrize("stage", STAGES)
def test_threads_that_meet_have_the_bits_of_numpy(stage: str) -> None:
    gamma = None if stage.startswith("by-") else 1.0
    list(compared(problem(9, 7), TEAMS, [Work(stage, 1, gamma)]))


@pytest.mark.parametrize("stage", ["subtrees", "regraft"])
def test_a_missing_meeting_is_noticed(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads find an error in what they run: here, teams that do not wait for each other's sums."""
    given, work = problem(9, 7), Work(stage, 1, 1.0)
    start, runner = fresh_state(3, given.mutations), batched_runner(given, TEAMS)
    expected = after(numpy_runner(given), start, work)
    monkeypatch.setattr("tests.support.teams.WITHOUT", {"meet_all"})
    with pytest.raises(AssertionError):
        assert_equal_searches(after(runner, start, work), expected)


def simulated(cells: int, mutations: int) -> SearchProblem:
    made = simulate(cells, mutations, 1e-3, 0.2, 0.1, 5)
    return make_search_problem(make_problem(made.matrix, Rates(1e-3, 0.2)))


@pytest.mark.cuda
@pytest.mark.parametrize(("cells", "mutations"), [(40, 47), (64, 63), (300, 20), (200, 200), (1000, 500)])
def test_a_gpu_has_the_bits_of_native(cells: int, mutations: int) -> None:
    """Two searches at once, of which one does nothing or something else in some launches."""
    given = simulated(cells, mutations)
    pair = [
        make_search_runner(choose_device(one), given, 2, 5, by_columns=True, sparse=None)
        for one in ("cuda", "native")
    ]
    for runner in pair:
        for slot in (0, 1):
            runner.put(slot, fresh_state(slot, mutations))
    works: list[tuple[Work | None, Work | None]] = [(Work("by-mutations"), Work("by-columns"))]
    for gamma in (1.0, 4.0, None):
        works += [
            (Work(one, 2, gamma), Work(two, 1, gamma)) for one, two in zip(SWEEPS, SWEEPS[::-1], strict=True)
        ]
    works += [(Work("exact", 30), None), (None, Work("subtrees", 30))]
    for work in works:
        for runner in pair:
            runner.run(work)
        for slot in (0, 1):
            assert_equal_searches(pair[0].get(slot), pair[1].get(slot), (work, slot))
    for runner in pair:
        runner.close()


@pytest.mark.cuda
@pytest.mark.parametrize(("cells", "mutations"), [(2000, 90), (3000, 120)])
def test_whole_searches_on_a_gpu(cells: int, mutations: int) -> None:
    """Starts by a sample of the columns, too."""
    given = simulated(cells, mutations)
    policy = policy_for(mutations, given.columns)
    policy = replace(policy, starts=("by-mutations", "by-columns"), rounds=policy.rounds[:2])
    found = []
    for device in ("cuda", "native"):
        runner = make_search_runner(choose_device(device), given, 2, 5, by_columns=policy.by_columns)
        found.append(run_search(runner, policy))
        runner.close()
    assert found[0].scores == found[1].scores
    assert [one.tolist() for one in found[0].trees] == [one.tolist() for one in found[1].trees]


@pytest.mark.cuda
def test_more_searches_than_slots_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches whose stages end at different times, and take turns in a few slots."""
    given = simulated(90, 60)
    policy = SearchPolicy(("by-mutations", "by-columns") * 6, (Phase(sweeps=4, from_best=True),))
    monkeypatch.setattr("syclade.host.chains.search.kernel._AT_ONCE", 5)
    monkeypatch.setattr("syclade.host.chains.search.runner._LONG_STAGES", 0)
    found = []
    for device, slots in (("cuda", 4), ("native", 12)):
        runner = make_search_runner(choose_device(device), given, 12, 5, by_columns=True)
        assert runner.slots == slots
        found.append(run_search(runner, policy))
        runner.close()
    assert found[0].scores == found[1].scores
    assert [one.tolist() for one in found[0].trees] == [one.tolist() for one in found[1].trees]


def test_teams_for_multiprocessors() -> None:
    sizes = {"slots": 2, "cells": 1024, "genes": 512}
    assert teams_for(132, sizes) == 32, "as many as there are blocks of columns"
    assert teams_for(40, sizes) == 20, "all searches run at once"


def test_slots_for_multiprocessors() -> None:
    assert [slots_for(132, searches) for searches in (1, 2, 32, 33, 1056)] == [1, 2, 32, 17, 32]
    assert slots_for(6, 8) == 4, "two turns"
