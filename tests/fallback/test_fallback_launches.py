"""Launches of the numpy fallback: the state kept between them, and the effect of an interrupt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from syclade.fallback.chain import lookahead
from syclade.fallback.chain import steps as chain_steps
from syclade.fallback.chain.tables import Tables
from syclade.host.chains.backends import default_slots, make_numpy_runner
from syclade.host.chains.encodings import PlainEncoding
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, Recorder, every
from syclade.host.device.device import NUMPY as NUMPY_DEVICE
from tests.support.backends import NUMPY, Case, Seen, assert_equal_chains, run_alone, seen
from tests.support.numpy_chains import chains_of, runner_of

SLOT_BYTES = Tables.slot_bytes(13, Case(12, 9).problem().columns)


def test_what_is_interrupted_has_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    case, slots = Case(12, 9), 3
    runner = runner_of(case, slots)
    runner.advance(np.full(slots, 20))
    before = [seen(runner, slot) for slot in range(slots)]
    work, calls = Tables.follow, 0

    def interrupted(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        work(*args)

    monkeypatch.setattr(Tables, "follow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.advance(np.full(slots, 400))
    for slot, chain in enumerate(before):
        assert_equal_chains(seen(runner, slot), chain)
    runner.advance(np.full(slots, 90))
    for slot, chain in enumerate(chains_of(case, ((20,) * slots, (90,) * slots))):
        assert_equal_chains(seen(runner, slot), chain)


def test_tables_are_kept_from_launch_to_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    start = Tables.__init__

    def noted(tables: Tables, parent: Any, weights: Any) -> None:
        made.append(len(parent))
        start(tables, parent, weights)

    monkeypatch.setattr(Tables, "__init__", noted)
    case = Case(12, 9)
    runner = runner_of(case, 3)
    for target in ((30, 30, 30), (50, 60, 70), (80, 80, 80)):
        runner.advance(np.array(target))
    assert made == [3]
    runner.put(1, case.start(1))
    runner.advance(np.array((90, 90, 90)))
    assert made == [3, 3]
    runner.advance(np.array((90, 95, 95)))
    assert made == [3, 3, 2]
    expected = chains_of(case, ((90, 95, 95),))
    for slot in range(3):
        assert_equal_chains(seen(runner, slot), expected[slot])


def test_as_many_slots_at_once_as_tables_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(12, 9)
    monkeypatch.setattr(chain_steps, "GROUP_BYTES", 2 * SLOT_BYTES + 1)
    runner = runner_of(case, 5)
    for target in (40, 70):
        runner.advance(np.full(5, target))
    for slot in range(5):
        assert_equal_chains(seen(runner, slot), run_alone(NUMPY, case, slot, 70))


def test_the_tables_count_as_memory() -> None:
    runner = runner_of(Case(12, 9), 3)
    before = runner.memory_bytes
    runner.advance(np.full(3, 10))
    assert runner.memory_bytes >= before + 3 * SLOT_BYTES


def test_slots_by_default_keep_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Case(12, 9).plan()
    monkeypatch.setattr(chain_steps, "GROUP_BYTES", 7 * SLOT_BYTES)
    assert default_slots(NUMPY_DEVICE, plan, PlainEncoding(plan.problem), 10**6) == 7


def test_groups_keep_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    start = Tables.__init__

    def noted(tables: Tables, parent: Any, weights: Any) -> None:
        made.append(len(parent))
        start(tables, parent, weights)

    monkeypatch.setattr(chain_steps, "GROUP_BYTES", 2 * SLOT_BYTES + 1)
    monkeypatch.setattr(Tables, "__init__", noted)
    runner = runner_of(Case(12, 9), 5)
    for target in (40, 70, 90):
        runner.advance(np.full(5, target))
    assert made == [2, 2, 1]


@pytest.mark.parametrize("ahead", [1, 2, 7, 32])
@pytest.mark.parametrize("recorders", [(), (every(3), NEW_BEST, EQUAL_BEST)], ids=["still", "recording"])
def test_the_lookahead_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, ahead: int, recorders: tuple[Recorder, ...]
) -> None:
    """Chains and events equal those of single steps, however short the ring and the batch of draws."""
    case, targets = Case(12, 9, gamma=0.3), (np.full(5, 50), np.array((60, 200, 130, 51, 333)))

    def chains(wanted: int) -> tuple[list[Seen], list[list[Any]]]:
        monkeypatch.setattr(chain_steps, "steps_ahead", lambda *_: wanted)
        plan = case.plan(recorders=recorders, events=5)
        runner = make_numpy_runner(plan, PlainEncoding(plan.problem), 5, case.seed)
        runner.put_all([case.start(slot) for slot in range(5)])
        events: list[list[Any]] = [[] for _ in range(5)]
        for target in targets:
            while True:
                advanced = runner.advance(target)
                for one in advanced.events:
                    events[one.chain].append((one.step, one.score, one.why, one.key, one.parents.tolist()))
                if (advanced.steps == target).all():
                    break
        return [seen(runner, slot) for slot in range(5)], events

    monkeypatch.setattr(chain_steps, "SHORTEST_BATCH", 5)
    monkeypatch.setattr(chain_steps, "BATCH", 20)
    (found, events), (expected, wanted) = chains(ahead), chains(1)
    assert events == wanted
    assert all(len(one) > 15 for one in events) == bool(recorders)
    for ours, theirs in zip(found, expected, strict=True):
        assert_equal_chains(ours, theirs)


def test_the_lookahead_is_that_of_the_cheapest_step() -> None:
    """Compare with the best of all lookaheads, by the exact mean number of steps.

    The lookahead is far where rounds cost most.
    """
    for slots, cost, acceptance in ((1, 1.0, 0.15), (16, 1.0, 0.15), (256, 1.0, 0.15), (16, 20.0, 0.5)):

        def price(
            ahead: int, slots: int = slots, cost: float = cost, acceptance: float = acceptance
        ) -> float:
            done = sum((1 - acceptance) ** step for step in range(ahead))
            return (lookahead.ROUND_COST / slots + ahead * cost) / done

        best = min(range(1, lookahead.MOST + 1), key=price)
        assert lookahead.steps_ahead(slots, cost, acceptance) == best
    assert lookahead.steps_ahead(1, 1.0, 0.15) > lookahead.steps_ahead(256, 1.0, 0.15) > 1
    assert lookahead.steps_ahead(16, 1.0, 1.0) == 1
