"""Negative controls: with any stage broken, chains on ancestor matrices differ from the oracle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from syclade.fallback.ancestor.stages import STAGES
from syclade.host.chains.backends import make_numpy_runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.state import every
from syclade.host.device.device import NUMPY
from tests.suites.test_conformance import assert_is_trace
from tests.support.backends import Backend, Case, run_alone

ANCESTOR, CASE, STEPS = Backend("numpy", "ancestor"), Case(14, 16, seed=4), 150

Break = Callable[[dict[str, Any], Any], None]


def change_threshold(arrays: dict[str, Any], slots: Any) -> None:
    arrays["threshold"][slots] += 2**22


def change_parent(arrays: dict[str, Any], slots: Any) -> None:
    arrays["parent_rows"][slots, 0] |= np.uint64(1)


def change_tree(arrays: dict[str, Any], slots: Any) -> None:
    arrays["proposal"][slots] = arrays["ancestors"][slots]


def change_worth(arrays: dict[str, Any], slots: Any) -> None:
    arrays["worth"][slots, 0] //= 2


def change_best(arrays: dict[str, Any], slots: Any) -> None:
    arrays["best_score"][slots] += 1


FAULTS: dict[str, Break] = {
    "propose": change_threshold,
    "find_parent": change_parent,
    "tree_update": change_tree,
    "score_mapping": change_worth,
    "reduction": change_best,
}


def test_the_stages_give_the_oracles_chain() -> None:
    assert set(FAULTS) == set(STAGES)
    assert_is_trace(run_alone(ANCESTOR, CASE, 0, STEPS), CASE.trace(0, STEPS), STEPS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_stage_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = STAGES[name]

    def wrong(arrays: Any, slots: Any, parts: Any) -> None:
        right(arrays, slots, parts)
        FAULTS[name](arrays, slots)

    monkeypatch.setitem(STAGES, name, wrong)
    with pytest.raises(AssertionError):
        assert_is_trace(run_alone(ANCESTOR, CASE, 0, STEPS), CASE.trace(0, STEPS), STEPS)


def test_an_interrupted_launch_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that its first stages have already written have no effect either."""
    plan = CASE.plan(recorders=[every(3)], events=100)
    runner = make_numpy_runner(plan, choose_encoding("ancestor", NUMPY, plan.problem), 2, CASE.seed)
    runner.put_all([CASE.start(0), CASE.start(1)])
    runner.advance(np.array([20, 25]))

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(STAGES, "score_mapping", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runner.advance(np.array([90, 90]))
    assert runner.read_all("step").tolist() == [20, 25]
    assert len(runner.advance(np.array([60, 70])).events) == 14 + 15
    for slot, steps in ((0, 60), (1, 70)):
        state, last = runner.get(slot), CASE.trace(slot, steps)[-1]
        assert state.parents.tolist() == list(last.final)
        assert state.best_score == last.best_score
