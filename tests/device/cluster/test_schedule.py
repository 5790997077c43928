"""The schedule of shared chains, in simulated time: the speeds of very different places add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends.shared import runner as shared
from syclade.host.chains.backends.shared.runner import ELSEWHERE, HERE, choose, seconds_of
from syclade.host.chains.backends.shared.segment import Segment, SegmentDone
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.device.cluster.job_pool import Finished
from syclade.host.device.device import NUMPY
from syclade.host.device.work import WorkDone

TREE = np.zeros(2, dtype=np.int32)


class SimulatedPlace:
    """A place that does `speed` steps per second, on `units` cores."""

    is_here = True

    def __init__(self, number: int, speed: float, units: int) -> None:
        self.number, self.speed, self.units = number, speed, units
        self.rate: float | None = None


class SimulatedJobPool:
    """A job pool whose places work in simulated time; the interface is that of `JobPool`.

    A state takes `moving` seconds to come and go.
    """

    def __init__(self, speeds: Sequence[float], units: int, moving: float) -> None:
        self._moving = moving
        self.places = [SimulatedPlace(number, speed, units) for number, speed in enumerate(speeds)]
        self.now = 0.0
        self._jobs: list[tuple[float, SimulatedPlace, Any, SegmentDone, float]] = []

    def idle(self) -> list[SimulatedPlace]:
        busy = {place for _, place, *_ in self._jobs}
        return [place for place in self.places if place not in busy]

    def under_way(self) -> list[Any]:
        return []

    def submit(self, place: SimulatedPlace, _function: Any, segment: Segment, tag: Any) -> None:
        steps = [state.step for state, _ in segment.chains]
        left, seconds = [to - at for at, to in zip(steps, segment.targets, strict=True)], segment.seconds
        each = place.speed / max(len(steps), place.units)  # steps per second of a chain
        # As in `advance_segment`, the segment ends when fewer than half of the chains have steps left.
        seconds = min(seconds, sorted(left)[len(left) // 2] / each)
        done = [min(here, max(1, int(seconds * each))) for here in left]
        chains = [
            (chain(state.chain, state.step + more), info)
            for (state, info), more in zip(segment.chains, done, strict=True)
        ]
        work = (WorkDone(NUMPY, "numpy", "steps", sum(done), seconds),)
        took = seconds + self._moving * len(chains)
        self._jobs.append((self.now + took, place, tag, SegmentDone(chains, [], work, place.units), took))

    def collect(self, seconds: float) -> list[Finished[Any, SegmentDone]]:
        first = min(end for end, *_ in self._jobs) if self._jobs else self.now
        if first > self.now + seconds:
            self.now += seconds
            return []
        self.now = max(self.now, first)
        ended = [job for job in self._jobs if job[0] <= self.now]
        self._jobs = [job for job in self._jobs if job[0] > self.now]
        return [Finished(place, tag, done, took) for _, place, tag, done, took in ended]  # type: ignore[arg-type]


def chain(number: int, step: int) -> ChainState:
    return ChainState(number, step, TREE, 0, TREE, 0, None)  # type: ignore[arg-type]


def seconds_of_run(
    speeds: Sequence[float], chains: int, steps: int, units: int = 2, moving: float = 0.0
) -> float:
    """Return the simulated time of a run."""
    job_pool = SimulatedJobPool(speeds, units, moving)
    made = shared.SharedRunner(None, 0, chains, job_pool)  # type: ignore[arg-type]
    for slot in range(chains):
        made.put(slot, chain(slot, 0), ChainInfo(np.zeros(2, dtype=np.int64)))
    targets = np.full(chains, steps, dtype=np.int64)
    for _ in range(100_000):
        if not (made.advance(targets).steps < targets).any():
            break
    assert [made.get(slot).step for slot in range(chains)] == [steps] * chains
    assert sum(one.count for one in made.work) == chains * steps
    return job_pool.now


def test_segments_of_many_chains_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places of 500 chains, whose states take half a second to come and go."""
    assert seconds_of_run([1e6, 1e6], 1000, 40_000, units=500, moving=1e-3) < 20 * 1.35
    monkeypatch.setattr(shared, "_WORTH", 0.0)
    assert seconds_of_run([1e6, 1e6], 1000, 40_000, units=500, moving=1e-3) > 20 * 2.0


SPEEDS = ([1e6], [1e6, 1e6], [1e6] * 7, [1e6, 3e5], [1e6, 1e5], [1e6, 2e4], [1e6, 9e5, 1e5, 2e4], [2e4, 1e6])


@pytest.mark.parametrize("speeds", SPEEDS, ids=str)
@pytest.mark.parametrize("chains", [8, 16, 64])
def test_speeds_add_up(speeds: list[float], chains: int) -> None:
    steps = int(20 * sum(speeds) / chains)  # 20 s at best
    assert seconds_of_run(speeds, chains, steps, units=1) < 20 / 0.97


@pytest.mark.parametrize("chains", [1, 2])
def test_few_chains_are_in_the_fast_place(chains: int) -> None:
    """One core does a chain: half of the fast place's speed each."""
    assert seconds_of_run([1e6, 2e4], chains, 5_000_000) < 10 * 1.15


def test_many_cores() -> None:
    """A chain that lags behind must not be left for the end, where one core would do it."""
    assert seconds_of_run([8e6, 1e5], 16, 10_000_000, units=8) < 20 * 1.1


def test_a_slow_place_that_keeps_its_chains_holds_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: each place does an equal part of the chains from start to end."""

    def own(left: Any, waiting: Any, _rate: Any, rates: Any, *_: Any) -> list[int]:
        part = len(left) // len(rates)
        return sorted(waiting)[:part]

    monkeypatch.setattr(shared, "choose", own)
    monkeypatch.setattr(shared, "seconds_of", lambda *_: 1e9)
    assert seconds_of_run([1e6, 2e4], 16, 1_000_000) > 10 * 16


def test_choice_of_chains() -> None:
    left = {0: 50, 1: 40, 2: 30, 3: 20}
    assert choose(left, left, 1.0, [1.0, 1.0], 1, 1, 0) == [0, 1]
    assert choose(left, left, None, [None, None], 1, 1, 0) == [0, 1]
    assert choose(left, left, 50.0, [50.0, 1.0], 2, 1, 0) == [0, 1, 2]  # one is left for the other place
    assert choose(left, left, 50.0, [50.0, 1.0], 4, 1, 0) == [0, 1, 2, 3]  # none: each core has one
    assert choose(left, {3}, 1.0, [50.0, 1.0], 1, 0, 0) == [3]
    assert choose(left, {0}, 1.0, [50.0, 1.0], 1, 0, 0) == []  # too far behind for a slow place
    assert choose(left, {0}, 1.0, [50.0, 1.0], 1, 0, 20) == [0]


def test_segments_become_shorter_at_the_end() -> None:
    assert seconds_of(HERE, 100, 0.0) == HERE.first
    assert seconds_of(ELSEWHERE, 10**9, 1e6) == ELSEWHERE.most
    assert seconds_of(ELSEWHERE, 10**6, 1e6) == 0.5
    assert seconds_of(ELSEWHERE, 1, 1e6) == ELSEWHERE.least
    assert seconds_of(ELSEWHERE, 10**12, 1e6, 1000) == 20.0
