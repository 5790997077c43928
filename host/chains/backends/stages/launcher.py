"""The macro-pipeline on an engine: each launch runs one stage on one chain state.

Its schedule counts time in ticks: in a tick every stage works on at most one state. A state passes the stages
in order, one per tick. A state that leaves the last stage queues for the first one again until its steps are
done (the thesis's IO kernel, algorithm 3.10). States with fewer steps than others leave earlier, and the next
states in the queue move up. The timeline records when each stage worked on which state, for a limited number
of steps.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypedDict

from syclade.host.device.engines import Engine
from syclade.host.ground.values import JsonObject

__all__ = [
    "ORDER",
    "TIMED_STEPS",
    "InStage",
    "Interval",
    "Launcher",
    "PipelineReport",
    "Recorded",
    "StagesAtWork",
    "Timeline",
    "fill",
    "run_pipeline",
    "ticks",
]


class StagesAtWork(TypedDict):
    """How busy the stages were.

    `busy` is the share of the time during which each stage worked, over the first `timed_steps` chain steps.
    `fill_by_time` is the mean of `busy` over the stages; None if nothing was timed. `stages_at_once` is the
    mean number of stages at work when one begins, itself included, `most_stages_at_once` the largest; None if
    nothing was timed or counted. Overlapping stages are counted by the kernel, and not timed: `clock` is
    "order", and `timed_steps` are those of which the order is known.
    """

    fill_by_time: float | None
    busy: dict[str, float]
    stages_at_once: float | None
    most_stages_at_once: int | None
    timed_steps: int
    clock: str


class PipelineReport(StagesAtWork):
    """How full the pipeline was, for run.json.

    `fill_by_tick` is the share of stages that have a state, over all ticks of the schedule. It gives several
    stages a state in a tick; only `stages_at_once` says whether they worked at the same time.
    """

    stages: list[str]
    slots: int
    ticks: int
    steps: int
    fill_by_tick: float


class InStage(NamedTuple):
    """A chain state in a stage.

    Attributes:
        slot: slot of the state.
        step: step in this run of the pipeline, counted from 0 for every slot.
    """

    slot: int
    step: int


def ticks(steps: Sequence[int], stages: int) -> Iterator[tuple[InStage | None, ...]]:
    """Yield the pipeline's contents tick by tick until every state has done its steps.

    Args:
        steps: number of steps that each slot has to do, 0 or more.
        stages: number of stages in the pipeline, at least 1.

    Yields:
        The state in each stage, or None where the stage is empty.
    """
    queue = deque(InStage(slot, 0) for slot, wanted in enumerate(steps) if wanted > 0)
    inside: deque[InStage | None] = deque([None] * stages)
    left = len(queue)
    while left:
        done = inside.pop()
        if done is not None and done.step + 1 < steps[done.slot]:
            queue.append(InStage(done.slot, done.step + 1))
        elif done is not None:
            left -= 1
        inside.appendleft(queue.popleft() if queue else None)
        if left:
            yield tuple(inside)


def fill(steps: Sequence[int], stages: int) -> float:
    """Return the share of stages that have a state, over all ticks."""
    count = sum(1 for _ in ticks(steps, stages))
    return sum(steps) / count if count else 0.0


IN_FLIGHT = 128
"""Launches in flight before the host waits: enough for any device. More would cost memory for events."""


class Launcher:
    """The stages, loaded into an engine.

    Attributes:
        engine: has all arrays that the stages work on.
        stages: names of the stages, in order.
        kernels: their numbers in the engine.
    """

    def __init__(self, engine: Engine, stages: Sequence[str], kernels: Sequence[int]) -> None:
        self.engine = engine
        self.stages = tuple(stages)
        self.kernels = tuple(kernels)

    def launch(self, stage: int, slot: int, after: Sequence[object]) -> object:
        """Launch a stage on one slot's state, after other launches; return its token (`Engine.start`)."""
        return self.engine.start(self.kernels[stage], slot, after)


def run_pipeline(
    launcher: Launcher, steps: Sequence[int], seen: Callable[[int, InStage, object], None] | None = None
) -> int:
    """Run states through the pipeline and wait for the last one; return the number of ticks.

    A launch waits only for the previous stage on the same state, and for the same stage on the previous
    state. So a device may run ahead of the ticks.

    Args:
        launcher: runs the stages.
        steps: number of steps that each slot has to do, 0 or more.
        seen: called with stage, state and token after each launch.
    """
    of_slot: dict[int, object] = {}
    of_stage: list[object] = [None] * len(launcher.stages)
    under_way: deque[object] = deque()
    count = 0
    for contents in ticks(steps, len(launcher.stages)):
        count += 1
        for stage, state in enumerate(contents):
            if state is None:
                continue
            after = [token for token in (of_slot.get(state.slot), of_stage[stage]) if token is not None]
            token = launcher.launch(stage, state.slot, after)
            of_slot[state.slot] = of_stage[stage] = token
            under_way.append(token)
            if seen is not None:
                seen(stage, state, token)
        while len(under_way) > IN_FLIGHT:
            launcher.engine.wait(under_way.popleft())
    for token in under_way:
        launcher.engine.wait(token)
    return count


TIMED_STEPS = 1000
"""Number of chain steps, over all chains, whose stages are timed. Their trace takes about 1.5 MB."""


class Interval(NamedTuple):
    """Time during which a stage worked on a state.

    Attributes:
        stage: number of the stage.
        slot, chain: slot and chain of the state.
        step: number of the step in its chain.
        start, end: times in ns since the start of the first interval.
    """

    stage: int
    slot: int
    chain: int
    step: int
    start: int
    end: int


ORDER = "order"
"""Clock that ticks once when a stage begins, and once when one ends."""


class Recorded:
    """The first intervals in which stages worked, and what is drawn of them.

    Attributes:
        stages: names of the stages, in order.
        clock: unit of the intervals: device or host for ns of its clock, ORDER.
        steps: number of chain steps recorded.
        intervals: the intervals.
    """

    def __init__(self, stages: Sequence[str], clock: str) -> None:
        self.stages, self.clock = tuple(stages), clock
        self.steps = 0
        self.intervals: list[Interval] = []

    def at_once(self) -> list[int]:
        """Return how many stages were at work, itself included, whenever one began."""
        events = [event for one in self.intervals for event in ((one.start, 1), (one.end, -1))]
        working, found = 0, []
        for _, change in sorted(events):  # a stage ends before another begins
            working += change
            if change > 0:
                found.append(working)
        return found

    def chrome_trace(self, about: PipelineReport) -> str:
        """Return JSON in Chrome's trace format: one row per stage, and one row per slot.

        Args:
            about: plain values for `otherData`.

        Source: Trace Event Format, complete events ("X") and metadata events ("M"); times in µs, of which the
        clock ORDER has one for each event.
        """
        names = [name.replace("_", " ") for name in self.stages]
        unit = 1 if self.clock == ORDER else 1e3
        slots = sorted({one.slot for one in self.intervals})
        events = _rows(_STAGES, "stages", list(enumerate(names)))
        events += _rows(_SLOTS, "chain states", [(slot, f"slot {slot}") for slot in slots])
        for one in self.intervals:
            times: JsonObject = {"ph": "X", "ts": one.start / unit, "dur": (one.end - one.start) / unit}
            state: JsonObject = {"slot": one.slot, "chain": one.chain, "step": one.step}
            events.append(
                {"name": f"chain {one.chain}", **times, "pid": _STAGES, "tid": one.stage, "args": state}
            )
            events.append({"name": names[one.stage], **times, "pid": _SLOTS, "tid": one.slot, "args": state})
        other = {**about, "clock": self.clock, "timed_steps": self.steps}
        made = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}
        return json.dumps(made, separators=(",", ":")) + "\n"


class Timeline(Recorded):
    """Record of the times of the launches of stages in the first steps.

    Args:
        launcher: provides the stages and the clock.
        most: number of chain steps to time.
    """

    def __init__(self, launcher: Launcher, most: int = TIMED_STEPS) -> None:
        super().__init__(launcher.stages, launcher.engine.clock)
        self._launcher = launcher
        self._most = most
        self._waiting: list[tuple[int, int, int, int, object]] = []
        self._timed: set[int] = set()
        self._span = 0
        self._origin: int | None = None

    def see(self, stage: int, state: InStage, chain: int, step: int, token: object) -> None:
        """Note a launch if its step is among the first."""
        if stage == 0 and self.steps < self._most:
            self.steps += 1
            self._timed.add(state.slot)
        if state.slot in self._timed:
            self._waiting.append((stage, state.slot, chain, step, token))
        if stage == len(self.stages) - 1:
            self._timed.discard(state.slot)

    def settle(self) -> None:
        """Record the times of all noted launches, which must have ended."""
        if not self._waiting:
            return
        timed = [(*one[:4], *self._launcher.engine.times(one[4])) for one in self._waiting]
        self._waiting.clear()
        first = min(one[4] for one in timed)
        self._span += max(one[5] for one in timed) - first
        self._origin = first if self._origin is None else self._origin
        self.intervals += [Interval(*one[:4], one[4] - self._origin, one[5] - self._origin) for one in timed]

    def busy(self) -> dict[str, float]:
        """Return the share of the time that each stage worked, by name; empty if none was timed.

        The time is counted from the first launch to the end of the last one, without the pauses between two
        runs of the pipeline.
        """
        if not self._span:
            return {}
        worked = [0] * len(self.stages)
        for one in self.intervals:
            worked[one.stage] += one.end - one.start
        return {name: time / self._span for name, time in zip(self.stages, worked, strict=True)}


_STAGES, _SLOTS = 1, 2


def _rows(process: int, name: str, rows: Sequence[tuple[int, str]]) -> list[JsonObject]:
    """Return events that name a process and its threads; a viewer shows them as a group of rows."""
    made: list[JsonObject] = [{"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}}]
    for number, label in rows:
        row: JsonObject = {"ph": "M", "pid": process, "tid": number}
        made.append({"name": "thread_name", **row, "args": {"name": label}})
        made.append({"name": "thread_sort_index", **row, "args": {"sort_index": number}})
    return made
