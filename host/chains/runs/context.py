"""Run context: progress callback, checkpointing, stop request; and what a run has found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.chains.runs.pipeline import Outcome
from syclade.host.device.work import WorkDone
from syclade.host.ground.signals import Stop, Stopped

if TYPE_CHECKING:
    from syclade.host.chains.backends.stages.launcher import PipelineReport
    from syclade.host.chains.runs.pipeline import Progress
    from syclade.host.chains.sample_store import SampleStore

__all__ = ["CO_OPTIMAL", "RECURRENCE", "SUPPORT", "TREE", "Found", "RunContext", "Search", "ShortChains"]


def _nobody(_: Progress) -> None:
    """Ignore progress."""


@dataclass
class RunContext:
    """Context of a run, handed to all of its stages.

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


TREE, SUPPORT, CO_OPTIMAL, RECURRENCE = "tree", "support", "co_optimal", "recurrence"
"""Stages of an inference in which a stop request may come, in their order."""


class Search(NamedTuple):
    """One search.

    Attributes:
        start: how the search started (docs/search.md).
        log_likelihood: log-likelihood of its best tree, natural log, for rounded weights.
    """

    start: str
    log_likelihood: float


class ShortChains(NamedTuple):
    """Statistics of the short chains that searches start from.

    Attributes:
        best_scores: int64, shape (chains,): best score of each chain, in units of 2^-f nat.
        tallies: int64, shape (2 * kinds,): as in `Outcome`, over all chains.
        encoding: name of the encoding of their trees; empty if there were no chains.
    """

    best_scores: NDArray[np.int64]
    tallies: NDArray[np.int64]
    encoding: str


@dataclass(frozen=True, eq=False)
class Found:
    """Findings of a run.

    Attributes:
        outcome: its best state has the best tree of the run; the other fields describe the chains.
        steps: steps that every chain has done.
        encoding: name of the encoding of the chains; empty if there were no chains.
        slots: number of chains or searches that run at once.
        work: work of each executor in this process, in order; the work of a resumed run is not included.
        searches: all searches, by number; empty if only chains ran.
        interrupted: whether the run was stopped before its end.
        trees: best tree of each search: int32 parent vectors, shape (n + 1,).
        pipeline: how full the pipeline of separate stages was (`StagedRunner.report`); None for fused stages.
        samples: the events of the chains; None if they were not stored.
    """

    outcome: Outcome
    steps: int
    encoding: str
    slots: int
    work: tuple[WorkDone, ...]
    searches: tuple[Search, ...] = ()
    interrupted: bool = False
    trees: tuple[NDArray[np.int32], ...] = ()
    pipeline: PipelineReport | None = None
    samples: SampleStore | None = None
