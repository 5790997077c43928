"""The macro-pipeline in one kernel: its work-groups take stages of different chain states at the same time.

Device events cannot show stages at work within a launch, so the kernel counts them itself. It also notes in
which order the stages of the first steps begin and end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.stages.described import overlapping_kernel
from syclade.host.chains.backends.stages.launcher import (
    ORDER,
    TIMED_STEPS,
    Interval,
    Recorded,
    StagesAtWork,
)
from syclade.host.chains.backends.stages.opening import DEFAULT_SLOTS, PipelineRunner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan, chain_allocation
from syclade.host.device.choice import choose_device
from syclade.host.device.device import Device, usable_cores
from syclade.host.device.engines.sycl import SyclEngine
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.kernels.ancestor.stage_arguments import STAGES

__all__ = ["OverlappingRunner", "open_overlapping", "ticks_of"]

MOST_GROUPS = len(STAGES)
"""Most work-groups of a launch: no more stages can be at work."""

MOST_TASKS = 2**28
"""Most tasks of a launch: the sum over them of stages at work is below 2^31."""

_MOST, _SUM, _CLOCK = 2, 3, 4
"""Indices into `counters`."""


def ticks_of(states: int, steps: int) -> int:
    """Return the ticks of the schedule in which so many states do so many steps each."""
    return (steps - 1) * max(states, len(STAGES)) + states - 1 + len(STAGES) if states and steps else 0


class OverlappingRunner(PipelineRunner):
    """A runner whose kernel does all stages; in a launch all states in flight do as many steps."""

    def __init__(self, plan: Plan, encoding: AncestorEncoding, seed: int, engine: SyclEngine) -> None:
        self._all_stages = engine.load(overlapping_kernel(plan, encoding))
        super().__init__(plan, encoding, seed, engine, self._all_stages)
        self._sycl, self._groups = engine, engine.sizes["groups"]
        self._begun = self._at_once = self._most = self._events = 0
        self.timeline = Recorded(tuple(STAGES), ORDER)

    def _run(self, first: NDArray[np.int64], wanted: NDArray[np.int64]) -> int:
        left, ticks = wanted.copy(), 0
        while left.any():
            active = np.flatnonzero(left)
            most = MOST_TASKS // (len(STAGES) * max(len(active), len(STAGES)))
            steps = min(int(left[active].min()), most)
            ticks += self._launch_steps(active, steps, first + wanted - left)
            left[active] -= steps
        return ticks

    def _launch_steps(self, active: NDArray[np.int64], steps: int, reached: NDArray[np.int64]) -> int:
        """Let the states in some slots do so many steps each; return the ticks of the schedule.

        Args:
            active: the slots.
            steps: steps of each state.
            reached: steps of the states in all slots so far.
        """
        ticks = ticks_of(len(active), steps)
        slots = np.zeros(self.slots, dtype=np.int32)
        slots[: len(active)] = active
        timed = min(TIMED_STEPS - self.timeline.steps, len(active) * steps)
        self._engine.write("active", slots)
        self._engine.write("pipeline", np.array([len(active), steps, ticks, len(STAGES) * timed]))
        self._engine.write("counters", np.zeros(5 + len(STAGES)))
        self._engine.write("progress", np.zeros(self.slots))
        self._sycl.launch_groups(self._all_stages, self._groups)
        counters = self._engine.read("counters")
        self._begun += len(STAGES) * len(active) * steps
        self._at_once += int(counters[_SUM])
        self._most = max(self._most, int(counters[_MOST]))
        if timed:
            self._record(active, reached, timed)
            self._events += int(counters[_CLOCK])
        return ticks

    def _record(self, active: NDArray[np.int64], reached: NDArray[np.int64], timed: int) -> None:
        """Record the stages of so many steps, in the order in which their states entered the pipeline."""
        began, ended = self._engine.read("began"), self._engine.read("ended")
        for at in range(len(STAGES) * timed):
            entry, stage = divmod(at, len(STAGES))
            step, state = divmod(entry, len(active))
            slot = int(active[state])
            times = self._events + int(began[at]), self._events + int(ended[at])
            chain = self._put[slot].chain
            self.timeline.intervals.append(Interval(stage, slot, chain, int(reached[slot]) + step, *times))
        self.timeline.steps += timed

    def _at_work(self) -> StagesAtWork:
        return {
            "fill_by_time": None,
            "busy": {},
            "stages_at_once": self._at_once / self._begun if self._begun else None,
            "most_stages_at_once": self._most if self._begun else None,
            "timed_steps": self.timeline.steps,
            "clock": self.timeline.clock,
        }


def open_overlapping(
    device: str, plan: Plan, *, chains: int, slots: int | None, seed: int
) -> tuple[OverlappingRunner, Device, int]:
    """Open a runner of overlapping stages; arguments, result and errors as for `open_stages`.

    Raises:
        DeviceError: in addition, the device takes no SYCL kernels.
    """
    chosen = choose_device(device)
    if not chosen.takes_spirv or chosen.kind == "fpga":
        raise DeviceError(
            f"overlapping stages do not run on {chosen.name}",
            hint=f"use {flag_of('device')} cpu or fpga-emu, or {flag_of('stages', 'separate')}",
        )
    encoding = choose_encoding(AncestorEncoding.name, chosen, plan.problem)
    assert isinstance(encoding, AncestorEncoding)
    count = min(chains, DEFAULT_SLOTS) if slots is None else slots
    arguments = overlapping_kernel(plan, encoding).arguments
    allocation = chain_allocation(plan, encoding, count, seed, arguments)
    groups = min(MOST_GROUPS, usable_cores())  # a group that waits would take a core from one that works
    sizes = {**allocation.sizes, "groups": groups, "timed": len(STAGES) * TIMED_STEPS}
    allocation = allocation._replace(sizes=sizes)
    return OverlappingRunner(plan, encoding, seed, SyclEngine(chosen, allocation)), chosen, count
