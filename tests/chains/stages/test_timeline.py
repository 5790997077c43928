"""Timeline of states in stages: what is recorded, what a browser gets, and the limit."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends.stages.launcher import Interval, Timeline
from syclade.host.chains.backends.stages.opening import StagedRunner, open_stages
from syclade.host.chains.runs.pipeline import initial_state
from tests.support.backends import Case

PLAN = Case(15, 16).plan()


def run(device: str, slots: int, steps: int, most: int | None = None) -> StagedRunner:
    """Return a runner that has done its steps in two launches, with chains 10 and up."""
    runner, _, _ = open_stages(device, PLAN, chains=slots, slots=slots, seed=1)
    if most is not None:
        runner.timeline = Timeline(runner._launcher, most)
    runner.put_all([initial_state(PLAN, 1, 10 + slot) for slot in range(slots)])
    runner.advance(np.full(slots, steps // 2))
    runner.advance(np.full(slots, steps))
    return runner


@pytest.mark.parametrize(
    ("device", "clock"),
    [
        pytest.param("cpu", "device", marks=[pytest.mark.sycl, pytest.mark.compiler]),
        pytest.param("fpga-emu", "device", marks=[pytest.mark.sycl, pytest.mark.compiler]),
        ("python", "host"),
    ],
)
def test_stages_come_one_after_another(device: str, clock: str) -> None:
    """A state passes one stage at a time, in order, and a stage has one state at a time."""
    runner = run(device, 6, 4)
    intervals = runner.timeline.intervals
    assert len(intervals) == 6 * 4 * 5
    assert {(one.slot, one.chain, one.step, one.stage) for one in intervals} == {
        (slot, 10 + slot, step, stage) for slot in range(6) for step in range(4) for stage in range(5)
    }
    assert all(one.start < one.end for one in intervals)
    for slot in range(6):
        mine = sorted((one for one in intervals if one.slot == slot), key=lambda one: one.start)
        assert [(one.step, one.stage) for one in mine] == [(step, k) for step in range(4) for k in range(5)]
        assert_apart(mine)
    for stage in range(5):
        assert_apart(sorted((one for one in intervals if one.stage == stage), key=lambda one: one.start))
    report = runner.report()
    assert report["clock"] == clock
    assert report["fill_by_tick"] == 24 / (2 * 16)  # 16 ticks for 2 steps of 6 states
    assert report["fill_by_time"] is not None
    assert 0 < report["fill_by_time"] <= 1
    assert report["stages_at_once"] is not None
    assert report["most_stages_at_once"] is not None
    assert 1 <= report["stages_at_once"] <= report["most_stages_at_once"] <= 5
    assert device != "python" or report["most_stages_at_once"] == 1
    assert report["fill_by_time"] == pytest.approx(np.mean(list(report["busy"].values())))
    runner.close()


def assert_apart(intervals: list[Any]) -> None:
    for one, other in itertools.pairwise(intervals):
        assert one.end <= other.start


def test_a_browser_gets_rows_of_stages_and_of_slots() -> None:
    runner = run("python", 2, 4)
    trace = json.loads(runner.trace())
    assert trace["otherData"]["clock"] == "host"
    assert trace["otherData"]["slots"] == 2
    rows = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in trace["traceEvents"]
        if one["ph"] == "M" and one["name"] == "thread_name"
    }
    assert rows[1, 3] == "score mapping"
    assert rows[2, 1] == "slot 1"
    events = [one for one in trace["traceEvents"] if one["ph"] == "X"]
    assert len(events) == 2 * 2 * 4 * 5
    first = runner.timeline.intervals[0]
    assert events[0] == {
        "name": "chain 10",
        "ph": "X",
        "ts": 0.0,
        "dur": (first.end - first.start) / 1e3,
        "pid": 1,
        "tid": 0,
        "args": {"slot": 0, "chain": 10, "step": 0},
    }
    assert events[1]["name"] == "propose"
    assert events[1]["pid"] == 2
    runner.close()


def test_the_record_is_bounded_and_holds_whole_steps() -> None:
    runner = run("python", 3, 6, most=4)
    intervals = runner.timeline.intervals
    assert len(intervals) == 4 * 5
    assert {(one.slot, one.step) for one in intervals} == {(0, 0), (1, 0), (2, 0), (0, 1)}
    assert runner.report()["timed_steps"] == 4
    assert runner.report()["steps"] == 18
    runner.close()


def test_stages_at_once_are_counted_when_one_begins() -> None:
    """Three stages: the second begins while the first works, the third when both end; then one alone."""
    runner, _, _ = open_stages("python", PLAN, chains=1, slots=1, seed=1)
    times = [(0, 10), (4, 10), (10, 12), (20, 21)]
    runner.timeline.intervals += [Interval(0, 0, 0, 0, *one) for one in times]
    assert runner.timeline.at_once() == [1, 2, 1, 1]
    report = runner.report()
    assert (report["stages_at_once"], report["most_stages_at_once"]) == (1.25, 2)
    runner.close()


def test_nothing_done_nothing_told() -> None:
    runner, _, _ = open_stages("python", PLAN, chains=1, slots=1, seed=1)
    report = runner.report()
    assert (report["ticks"], report["fill_by_tick"], report["fill_by_time"]) == (0, 0.0, None)
    assert (report["stages_at_once"], report["most_stages_at_once"]) == (None, None)
    assert json.loads(runner.trace())["otherData"]["timed_steps"] == 0
    runner.close()
