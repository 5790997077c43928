"""Launchers: run one stage on one chain state; one kind per technology."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from syclade.host.backends.arrays import Arrays
from syclade.host.backends.stages.schedule import InStage, ticks
from syclade.host.devices.device import Device

__all__ = ["Launcher", "run_pipeline"]

IN_FLIGHT = 128
"""Launches in flight before the host waits: enough for any device. More would cost memory for events."""


class Launcher(ABC):
    """Runs stages on slots.

    Attributes:
        stages: names of the stages, in order.
        arrays: the chain states and all other arrays that the stages work on.
        executor: the device that the stages run on.
        clock: source of the times: "device" (events) or "host".
    """

    executor: Device
    clock: str

    def __init__(self, stages: Sequence[str], arrays: Arrays) -> None:
        self.stages = tuple(stages)
        self.arrays = arrays

    @abstractmethod
    def launch(self, stage: int, slot: int, after: Sequence[Any]) -> Any:
        """Launch a stage on one slot's state, to start when other launches have ended.

        Return without waiting, if the device allows it.

        Args:
            stage: number of the stage.
            slot: slot of the state.
            after: tokens of the launches that must end first.

        Returns:
            The token of this launch.
        """

    @abstractmethod
    def wait(self, token: Any) -> None:
        """Wait until a launch has ended."""

    @abstractmethod
    def times(self, token: Any) -> tuple[int, int]:
        """Return when a finished launch began and ended, in ns by the launcher's clock."""

    def close(self) -> None:
        """Free the memory."""
        self.arrays.close()


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
            launcher.wait(under_way.popleft())
    for token in under_way:
        launcher.wait(token)
    return count
