"""Events: chains emit what happened in the oracle's chain, on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.runs.pipeline import initial_state, run_chains
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, Event, every
from tests.support.backends import (
    BACKENDS,
    NUMPY,
    Backend,
    Case,
    assert_equal_chains,
    run_alone,
    seen,
)
from tests.support.keys import slow_key
from tests.support.own_sizes import by_backend, is_built_apart

CASE = Case(8, 13, gamma=0.5)
STEPS, CHAINS = 200, 3
RECORDERS = (NEW_BEST, EQUAL_BEST, every(7, first=5))
"""In the order of `syclade scite`, whose kernels are precompiled."""

Row = tuple[int, int, int, int, int, tuple[int, ...]]


def expected(chain: int) -> list[Row]:
    """Return the events of the oracle's chain: (chain, step, score, why, key, parents)."""
    start = CASE.start(chain)
    best, rows = start.best_score, []
    for step, trace in enumerate(CASE.trace(chain, STEPS), start=1):
        (done,) = trace.steps
        why = 4 * (step >= 5 and (step - 5) % 7 == 0)
        why |= 1 * (done.accepted and done.score > best) | 2 * (done.accepted and done.score == best)
        best = max(best, done.score)
        if why:
            rows.append((chain, step, done.score, why, slow_key(trace.final), trace.final))
    return rows


def row_of(event: Event) -> Row:
    tree = tuple(event.parents.tolist())
    return (event.chain, event.step, event.score, event.why, event.key, tree)


class Rows:
    """Consumer that stores rows by chain."""

    def __init__(self) -> None:
        self.of: dict[int, list[Row]] = {}

    def take(self, events: Any) -> None:
        for event in events:
            self.of.setdefault(event.chain, []).append(row_of(event))


def test_the_case_has_all_kinds_of_events() -> None:
    """Some events have several reasons, others only one."""
    assert {1, 2, 4, 5, 6} <= {row[3] for chain in range(CHAINS) for row in expected(chain)}


@pytest.mark.parametrize(("slots", "ring"), [(3, 64), (2, 3), (1, 1)])
@by_backend(BACKENDS, compiles=is_built_apart)
def test_nothing_is_lost_however_short_the_ring(backend: Backend, slots: int, ring: int) -> None:
    """The chains are the same as without recorders."""
    plan, rows = CASE.plan(recorders=RECORDERS, events=ring), Rows()
    with backend.runner(plan, slots, CASE.seed) as runner:
        outcome = run_chains(runner, chains=CHAINS, steps=STEPS, sinks=[rows])
    assert rows.of == {chain: expected(chain) for chain in range(CHAINS)}
    alone = [run_alone(NUMPY, CASE, chain, STEPS) for chain in range(CHAINS)]
    assert outcome.best_scores.tolist() == [chain.state.best_score for chain in alone]
    assert outcome.tallies.tolist() == np.sum([chain.tallies for chain in alone], axis=0).tolist()


@by_backend(BACKENDS, compiles=is_built_apart)
def test_a_slot_with_a_full_ring_stops_and_says_where(backend: Backend) -> None:
    """The other slots continue to their targets."""
    plan = CASE.plan(recorders=[every(10)], events=4)
    with backend.runner(plan, 3, CASE.seed) as runner:
        for slot in range(3):
            runner.put(slot, initial_state(plan, CASE.seed, slot))
        first = runner.advance(np.array([100, 25, 0]))
        assert first.steps.tolist() == [40, 25, 0]
        assert [(event.chain, event.step) for event in first.events] == [
            *((0, step) for step in (10, 20, 30, 40)),
            *((1, step) for step in (10, 20)),
        ]
        second = runner.advance(np.array([100, 25, 0]))
        assert (second.steps.tolist(), len(second.events)) == ([80, 25, 0], 4)
        third = runner.advance(np.array([100, 25, 0]))
        assert (third.steps.tolist(), len(third.events)) == ([100, 25, 0], 2)
        assert_equal_chains(seen(runner, 0), run_alone(NUMPY, CASE, 0, 100))


@by_backend(BACKENDS, compiles=is_built_apart)
def test_large_trees_have_the_same_keys(backend: Backend) -> None:
    """The tree has more nodes than lanes and than bits in a word; padding does not change the key."""
    case = Case(70, 40)
    plan = case.plan(recorders=[every(1)], events=30)
    with backend.runner(plan, 1, case.seed) as runner:
        runner.put(0, initial_state(plan, case.seed, 0))
        events = runner.advance(np.array([30])).events
    assert [event.key for event in events] == [slow_key(event.parents.tolist()) for event in events]
    assert len({event.key for event in events}) == len({tuple(event.parents) for event in events}) > 5


class Taken:
    """A sink that keeps all events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def take(self, events: Sequence[Event]) -> None:
        self.events += events


def test_every_sink_gets_all_events() -> None:
    plan, sinks = CASE.plan(recorders=RECORDERS), (Taken(), Taken())
    with NUMPY.runner(plan, 2, CASE.seed) as runner:
        outcome = run_chains(runner, chains=CHAINS, steps=STEPS, sinks=sinks)
    for sink in sinks:
        for chain in range(CHAINS):
            own = [event for event in sink.events if event.chain == chain]
            assert [(one.step, one.score, one.why, one.key, tuple(one.parents.tolist())) for one in own] == [
                tuple(row[1:6]) for row in expected(chain)
            ]
        assert max(event.score for event in sink.events) == outcome.best_scores.max()
