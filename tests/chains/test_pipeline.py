"""Macro-pipeline: assignment of chains to slots, lengths of launches, and progress reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner
from syclade.host.chains.backends.runner import Advanced
from syclade.host.chains.runs import pipeline
from syclade.host.chains.runs.clock import LAUNCH_SECONDS, Progress
from syclade.host.chains.runs.pipeline import Outcome, initial_state, run_chains
from syclade.host.chains.state import ChainInfo, ChainState, no_tallies
from tests.support.backends import NUMPY, Case

CASE = Case(5, 6)


class FakeRunner:
    """Runner that does no steps but reports them: a best score is 100 * (chain % 3) + the step."""

    returns_early = False

    def __init__(self, slots: int, seconds_per_step: float = 0.0) -> None:
        self.slots = slots
        self.seed = CASE.seed
        self.plan = CASE.plan()
        self.states: list[ChainState | None] = [None] * slots
        self.steps = [0] * slots
        self.puts: list[tuple[int, int]] = []
        self.launches: list[list[int]] = []
        self.now = 0.0
        self.seconds_per_step = seconds_per_step

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        assert info is None
        self.states[slot] = state
        self.steps[slot] = 0
        self.puts.append((slot, state.chain))

    def put_all(self, states: Sequence[ChainState]) -> None:
        for slot, state in enumerate(states):
            self.put(slot, state)

    def get(self, slot: int) -> ChainState:
        state = self.states[slot]
        assert state is not None
        return state

    def info(self, slot: int) -> ChainInfo:
        tallies = no_tallies(len(self.plan.kinds))
        tallies[0] = self.steps[slot]
        return ChainInfo(tallies)

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        lengths = []
        for slot, state in enumerate(self.states):
            length = 0 if state is None else max(int(targets[slot]) - state.step, 0)
            lengths.append(length)
            if state is not None and length:
                self.steps[slot] += length
                best = 100 * (state.chain % 3) + int(targets[slot])
                self.states[slot] = replace(state, step=int(targets[slot]), best_score=best)
        self.launches.append(lengths)
        self.now += max(lengths) * self.seconds_per_step
        return Advanced(np.array([0 if state is None else state.step for state in self.states]), [])

    def best_scores(self) -> NDArray[np.int64]:
        return np.array([0 if state is None else state.best_score for state in self.states])


def run(runner: FakeRunner, chains: int, steps: int, **options: Any) -> Outcome:
    return run_chains(cast(Runner, runner), chains=chains, steps=steps, **options)


def launch_lengths(monkeypatch: pytest.MonkeyPatch, seconds_per_step: float, steps: int) -> list[int]:
    runner = FakeRunner(2, seconds_per_step)
    monkeypatch.setattr(pipeline, "time", SimpleNamespace(perf_counter=lambda: runner.now))
    run(runner, chains=2, steps=steps)
    return [max(lengths) for lengths in runner.launches]


def test_chains_take_slots_in_order() -> None:
    runner = FakeRunner(3)
    outcome = run(runner, chains=8, steps=50)
    assert runner.puts == [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4), (2, 5), (0, 6), (1, 7)]
    assert runner.launches == [[50, 50, 50], [50, 50, 50], [50, 50, 0]]
    assert outcome.steps == 8 * 50
    assert outcome.tallies.tolist() == [8 * 50] + [0] * 9
    assert outcome.best_scores.tolist() == [50 + 100 * (chain % 3) for chain in range(8)]


def test_the_first_of_equal_chains_is_the_best() -> None:
    for slots in (1, 3, 8):
        outcome = run(FakeRunner(slots), chains=8, steps=20)
        assert (outcome.best.chain, outcome.best.best_score) == (2, 220)


def test_progress_counts_up() -> None:
    seen: list[Progress] = []
    runner = FakeRunner(2)
    run(runner, chains=5, steps=100, progress=seen.append)
    assert len(seen) == len(runner.launches)
    assert [state.steps_done for state in seen] == np.cumsum(np.sum(runner.launches, axis=1)).tolist()
    assert {state.steps_total for state in seen} == {500}
    assert seen[-1].steps_done == 500
    best = [state.best_score for state in seen]
    assert best == sorted(best)
    assert best[-1] == 300
    assert all(state.steps_per_second >= 0 for state in seen)


def test_launches_become_as_long_as_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = launch_lengths(monkeypatch, 1e-4, 20_000)
    wanted = LAUNCH_SECONDS / 1e-4
    assert lengths[:3] == [64, 256, 1000]
    assert all(length == pytest.approx(wanted, abs=1) for length in lengths[2:-1])
    assert sum(lengths) == 20_000


def test_launches_of_fast_steps_grow_fourfold(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = launch_lengths(monkeypatch, 0.0, 10**6)
    assert lengths[:-1] == [64 * 4**turn for turn in range(len(lengths) - 1)]


def test_launches_of_slow_steps_are_single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launch_lengths(monkeypatch, 1.0, 70) == [64] + [1] * 6


def test_launches_recover_from_a_slow_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first launch, for example, is slow while the driver still builds the kernel."""
    runner = FakeRunner(1)
    clock = iter([0.0, 10.0])  # launched, ended: ten seconds
    monkeypatch.setattr(pipeline, "time", SimpleNamespace(perf_counter=lambda: next(clock, 10.0)))
    run(runner, chains=1, steps=1000)
    assert [lengths[0] for lengths in runner.launches] == [64, 1, 4, 16, 64, 256, 595]


def test_initial_state() -> None:
    plan = CASE.plan(gamma=2.5)
    state = initial_state(plan, 5, 3)
    assert (state.chain, state.step, state.gamma) == (3, 0, 2.5)
    assert state.rates == plan.problem.rates
    assert state.score == state.best_score == plan.score.of(plan.problem, state.parents, state.rates, {})
    assert state.parents.tolist() == state.best_parents.tolist()


@pytest.mark.parametrize("chains", [1, 4, 7])
def test_real_runs_do_not_depend_on_slots(chains: int) -> None:
    outcomes = []
    for slots in (1, 3, 10):
        with NUMPY.runner(CASE.plan(), slots, 9) as runner:
            outcomes.append(run_chains(runner, chains=chains, steps=90))
    for outcome in outcomes[1:]:
        for name in ("best_scores", "tallies"):
            np.testing.assert_array_equal(getattr(outcome, name), getattr(outcomes[0], name))
        assert outcome.best.chain == outcomes[0].best.chain
        np.testing.assert_array_equal(outcome.best.best_parents, outcomes[0].best.best_parents)
