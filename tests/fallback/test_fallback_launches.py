"""Launches of the numpy fallback: what stays between them, and what an interrupt leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from syclade.fallback.ancestor import chain_step as ancestor_steps
from syclade.fallback.preorder import chain_step, group
from syclade.fallback.preorder.layout import rows_per_slot
from syclade.fallback.preorder.rebuild import Tables
from syclade.fallback.preorder.trees import Trees
from syclade.host.backends.numpy_runner import NumpyRunner
from syclade.host.encodings import ENCODINGS
from syclade.host.encodings.base import NUMPY_SLOTS
from tests.support.backends import Case, assert_equal_states
from tests.support.numpy_chains import chains_of, runner_of

pytestmark = pytest.mark.usefixtures("one_process")


@pytest.mark.parametrize(("encoding", "stage"), [("preorder", group), ("ancestor", ancestor_steps)])
def test_what_is_interrupted_has_not_happened(
    encoding: str, stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, slots = Case(12, 9), 3
    runner = runner_of(encoding, case, slots)
    runner.advance(np.full(slots, 20))
    before = [runner.get(slot) for slot in range(slots)]
    name = "judge" if encoding == "preorder" else "reduction"
    work, calls = getattr(stage, name), 0

    def interrupted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        return work(*args)

    monkeypatch.setattr(stage, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.advance(np.full(slots, 400))
    for slot, state in enumerate(before):
        assert_equal_states(runner.get(slot), state)
    runner.advance(np.full(slots, 90))
    for slot, state in enumerate(chains_of(encoding, case, ((20,) * slots, (90,) * slots))):
        assert_equal_states(runner.get(slot), state)


def test_tables_are_kept_from_launch_to_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[int] = []
    fill = Tables.fill

    def noted(tables: Tables, trees: Trees, used: int) -> None:
        filled.append(used)
        fill(tables, trees, used)

    monkeypatch.setattr(Tables, "fill", noted)
    case = Case(12, 9)
    runner = runner_of("preorder", case, 3)
    for target in ((30, 30, 30), (50, 60, 70), (80, 80, 80)):
        runner.advance(np.array(target))
    assert filled == [3]
    runner.put(1, case.start(1))
    runner.advance(np.array((90, 90, 90)))
    assert filled == [3, 3]
    runner.advance(np.array((90, 95, 95)))
    assert filled == [3, 3, 2]
    expected = chains_of("ancestor", case, ((90, 95, 95),))
    for slot in range(3):
        assert_equal_states(runner.get(slot), expected[slot])


def test_as_many_slots_as_have_their_tables_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Case(12, 9).problem()
    encoding = ENCODINGS["preorder"](problem)
    assert encoding.numpy_slots() == NUMPY_SLOTS
    slot_bytes = 4 * problem.columns.shape[1] * rows_per_slot(problem.nodes)
    monkeypatch.setattr(chain_step, "TABLE_BYTES", 5 * slot_bytes + 1)
    assert encoding.numpy_slots() == 5
    runner = NumpyRunner(encoding, 5, 1)
    small = runner.memory_bytes
    runner.put_all([Case(12, 9).start(slot) for slot in range(5)])
    runner.advance(np.full(5, 3))
    assert runner.memory_bytes >= small + 5 * slot_bytes
