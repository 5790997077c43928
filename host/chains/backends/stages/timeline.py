"""Timeline: when each stage worked on which state, for a limited number of steps; traces for a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syclade.host.chains.backends.stages.launcher import Launcher
from syclade.host.chains.backends.stages.schedule import InStage

__all__ = ["TIMED_STEPS", "Interval", "Timeline"]

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


class Timeline:
    """Record of the times of the stages in the first steps.

    Args:
        launcher: provides the stages and the clock.
        most: number of chain steps to time.
    """

    def __init__(self, launcher: Launcher, most: int = TIMED_STEPS) -> None:
        self._launcher = launcher
        self._most = most
        self._waiting: list[tuple[int, int, int, int, Any]] = []
        self._timed: set[int] = set()
        self._steps = 0
        self._span = 0
        self._origin: int | None = None
        self.intervals: list[Interval] = []

    @property
    def steps(self) -> int:
        """Number of chain steps timed."""
        return self._steps

    def see(self, stage: int, state: InStage, chain: int, step: int, token: Any) -> None:
        """Note a launch if its step is among the first."""
        if stage == 0 and self._steps < self._most:
            self._steps += 1
            self._timed.add(state.slot)
        if state.slot in self._timed:
            self._waiting.append((stage, state.slot, chain, step, token))
        if stage == len(self._launcher.stages) - 1:
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
        worked = [0] * len(self._launcher.stages)
        for one in self.intervals:
            worked[one.stage] += one.end - one.start
        return {name: time / self._span for name, time in zip(self._launcher.stages, worked, strict=True)}

    def chrome_trace(self, about: Mapping[str, Any]) -> str:
        """Return JSON in Chrome's trace format: one row per stage, and one row per slot.

        Args:
            about: plain values for `otherData`.

        Source: Trace Event Format, complete events ("X") and metadata events ("M"); times in µs.
        """
        names = [name.replace("_", " ") for name in self._launcher.stages]
        slots = sorted({one.slot for one in self.intervals})
        events = _rows(_STAGES, "stages", list(enumerate(names)))
        events += _rows(_SLOTS, "chain states", [(slot, f"slot {slot}") for slot in slots])
        for one in self.intervals:
            times = {"ph": "X", "ts": one.start / 1e3, "dur": (one.end - one.start) / 1e3}
            state = {"slot": one.slot, "chain": one.chain, "step": one.step}
            events.append(
                {"name": f"chain {one.chain}", **times, "pid": _STAGES, "tid": one.stage, "args": state}
            )
            events.append({"name": names[one.stage], **times, "pid": _SLOTS, "tid": one.slot, "args": state})
        other = {**about, "clock": self._launcher.engine.clock, "timed_steps": self._steps}
        made = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}
        return json.dumps(made, separators=(",", ":")) + "\n"


_STAGES, _SLOTS = 1, 2


def _rows(process: int, name: str, rows: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return events that name a process and its threads; a viewer shows them as a group of rows."""
    made: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}}]
    for number, label in rows:
        row = {"ph": "M", "pid": process, "tid": number}
        made.append({"name": "thread_name", **row, "args": {"name": label}})
        made.append({"name": "thread_sort_index", **row, "args": {"sort_index": number}})
    return made
