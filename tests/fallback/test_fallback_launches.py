"""Launches of the numpy fallback: what stays between them, and what an interrupt leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from syclade.fallback.chain import steps as chain_steps
from syclade.fallback.chain.tables import Tables
from syclade.host.backends import default_slots
from syclade.host.devices.cores import usable_cores
from syclade.host.devices.device import NUMPY as NUMPY_DEVICE
from syclade.host.encodings.plain import PlainEncoding
from tests.support.backends import NUMPY, Case, assert_equal_chains, run_alone, seen
from tests.support.numpy_chains import chains_of, runner_of


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
    monkeypatch.setattr(chain_steps, "GROUP_BYTES", 2 * 4 * 13 * case.problem().columns + 1)
    runner = runner_of(case, 5)
    for target in (40, 70):
        runner.advance(np.full(5, target))
    for slot in range(5):
        assert_equal_chains(seen(runner, slot), run_alone(NUMPY, case, slot, 70))


def test_the_tables_count_as_memory() -> None:
    runner = runner_of(Case(12, 9), 3)
    before = runner.memory_bytes
    runner.advance(np.full(3, 10))
    assert runner.memory_bytes >= before + 3 * 4 * 13 * Case(12, 9).problem().columns


def test_slots_by_default_keep_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(12, 9)
    plan = case.plan()
    problem = plan.problem
    monkeypatch.setattr(chain_steps, "GROUP_BYTES", 7 * 4 * 13 * problem.columns)
    slots = default_slots(NUMPY_DEVICE, plan, PlainEncoding(problem), 10**6)
    assert slots == 7 * usable_cores()
