"""What goes on beside a run: who is told of it, where it is kept, and whether it shall stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from syclade.host.checkpoints.keeper import Keeper

__all__ = ["Stop", "Stopped", "Task"]


class Stopped(Exception):
    """Raised between two launches when a run shall stop; what it has found by then counts."""


class Stop:
    """A wish that may come at any time, from a signal's handler or another thread.

    Attributes:
        wanted: whether it has come.
        begun: whether there is a run that would see it: between two launches.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.begun = False


def _nobody(_: Any) -> None:
    """Nobody is told."""


@dataclass
class Task:
    """See the module.

    Attributes:
        report: called after every launch.
        keeper: keeps the run.
        stop: whether it shall stop.
    """

    report: Callable[[Any], None] = _nobody
    keeper: Keeper = field(default_factory=lambda: Keeper(None, 0.0, {}))
    stop: Stop = field(default_factory=Stop)

    def launched(self, progress: Any) -> None:
        """A launch has ended.

        Raises:
            Stopped: the run shall stop.
        """
        self.stop.begun = True
        self.report(progress)
        if self.stop.wanted:
            raise Stopped
