"""Run context: progress callback, checkpointing, stop request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.ground.signals import Stop, Stopped

if TYPE_CHECKING:
    from syclade.host.chains.runs.pipeline import Progress

__all__ = ["RunContext"]


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
