"""The macro-pipeline on an engine: each launch runs one stage on one chain state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from syclade.host.chains.backends.stages.schedule import InStage, ticks
from syclade.host.device.engines.engine import Engine

__all__ = ["Launcher", "run_pipeline"]

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

    def launch(self, stage: int, slot: int, after: Sequence[Any]) -> Any:
        """Launch a stage on one slot's state, after other launches; return its token (`Engine.start`)."""
        return self.engine.start(self.kernels[stage], slot, after)


def run_pipeline(
    launcher: Launcher, steps: Sequence[int], seen: Callable[[int, InStage, Any], None] | None = None
) -> int:
    """Run states through the pipeline and wait for the last one; return the number of ticks.

    A launch waits only for the previous stage on the same state, and for the same stage on the previous
    state. So a device may run ahead of the ticks.

    Args:
        launcher: runs the stages.
        steps: number of steps that each slot has to do, 0 or more.
        seen: called with stage, state and token after each launch.
    """
    of_slot: dict[int, Any] = {}
    of_stage: list[Any] = [None] * len(launcher.stages)
    under_way: deque[Any] = deque()
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
