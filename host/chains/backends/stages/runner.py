"""Runner of the macro-pipeline: chain states in slots, advanced by separate stages."""

from __future__ import annotations

from typing import Any

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.launcher import Launcher, run_pipeline
from syclade.host.chains.backends.stages.schedule import InStage
from syclade.host.chains.backends.stages.timeline import Timeline
from syclade.host.chains.encodings.base import Encoding
from syclade.host.chains.plan import Plan
from syclade.host.device.work import STAGES

__all__ = ["StagedRunner"]


class StagedRunner(Runner):
    """A runner that keeps the pipeline full during a launch: each stage works on one of c states at a time.

    Attributes:
        timeline: timeline of the first steps.
    """

    def __init__(self, plan: Plan, encoding: Encoding, seed: int, launcher: Launcher) -> None:
        super().__init__(plan, encoding, seed, launcher.engine, launcher.kernels[0], STAGES)
        self._launcher = launcher
        self._ticks = 0
        self._steps = 0
        self.timeline = Timeline(launcher)

    def _launch(self) -> None:
        first = self._engine.read("step")
        steps = (self._engine.read("last_step") - first).clip(0).tolist()
        started = first.tolist()

        def seen(stage: int, state: InStage, token: Any) -> None:
            chain = self._put[state.slot].chain
            self.timeline.see(stage, state, chain, started[state.slot] + state.step, token)

        self._ticks += run_pipeline(self._launcher, steps, seen)
        self._steps += sum(steps)
        self.timeline.settle()

    def report(self) -> dict[str, Any]:
        """Return how full the pipeline was, as plain values.

        `fill_by_tick` is the share of stages that have a state, over all ticks of the schedule. `busy` is the
        share of the time during which each stage worked, over the first `timed_steps` chain steps.
        `fill_by_time` is the mean of `busy` over the stages; None if nothing was timed.
        """
        busy = self.timeline.busy()
        return {
            "stages": list(self._launcher.stages),
            "slots": self.slots,
            "ticks": self._ticks,
            "steps": self._steps,
            "fill_by_tick": self._steps / self._ticks if self._ticks else 0.0,
            "fill_by_time": sum(busy.values()) / len(busy) if busy else None,
            "busy": busy,
            "timed_steps": self.timeline.steps,
            "clock": self._engine.clock,
        }

    def trace(self) -> str:
        """Return the first steps in Chrome's trace format."""
        return self.timeline.chrome_trace(self.report())
