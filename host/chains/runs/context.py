"""Run context: progress callback, checkpointing, stop request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter

if TYPE_CHECKING:
    from syclade.host.chains.runs.pipeline import Progress

__all__ = ["RunContext", "Stop", "Stopped"]


class Stopped(Exception):
    """Raised between two launches when a stop was requested; the results so far are kept."""


class Stop:
    """A stop request, which may come at any time from a signal handler or another thread.

    Attributes:
        wanted: whether a stop was requested.
        begun: whether a run has begun that checks for requests, between two launches.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.begun = False


def _nobody(_: Progress) -> None:
    """Ignore progress."""


@dataclass
class RunContext:
    """Run context.

    Attributes:
        report: progress callback, called after every launch.
        checkpoints: writes the checkpoints.
        stop: the stop request.
    """

    report: Callable[[Progress], None] = _nobody
    checkpoints: CheckpointWriter = field(default_factory=lambda: CheckpointWriter(None, 0.0, {}))
    stop: Stop = field(default_factory=Stop)

    def launched(self, progress: Progress) -> None:
        """Report the progress after a launch, and stop if requested.

        Raises:
            Stopped: a stop was requested.
        """
        self.stop.begun = True
        self.report(progress)
        if self.stop.wanted:
            raise Stopped
