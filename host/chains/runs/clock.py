"""Progress of chains: steps done, lengths of launches, and how fast the steps are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["ACCEPTANCE_SECONDS", "LAUNCH_SECONDS", "Clock", "Progress", "StepRate"]

LAUNCH_SECONDS = 0.1
"""Target length of a launch: long compared with its overhead of 0.05 ms, short for progress and Ctrl-C."""

_FIRST_LAUNCH = 64

ACCEPTANCE_SECONDS = 1.0
"""Least time between two readings of the tallies, which must be read from the device slot by slot."""

RATE_SECONDS = 1.0
"""Least time after which the speed of steps is known."""


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        steps_done: chain steps done, over all chains.
        steps_total: chain steps of the whole run; None if not known.
        steps_expected: the same; if not known, the fewest possible.
        best_score: best integer score so far, in units of 2^-f nat.
        steps_here: those of the steps done that this process did, not an earlier one.
        steps_per_second: of this process, over all chains; 0 while it is not known (`StepRate`).
        acceptance: share of proposals that were accepted, by kind of move, for the chains that are on the
            device; updated at most once per `ACCEPTANCE_SECONDS`.
    """

    steps_done: int
    steps_total: int | None
    steps_expected: int
    best_score: int
    steps_here: int
    steps_per_second: float
    acceptance: Mapping[str, float] = field(default_factory=dict)


class StepRate:
    """Steps per second: known once they were timed for a while, without the first launch.

    That launch also waits for the translation of kernels: with it, the time left of a run of a minute would
    begin as several minutes.
    """

    def __init__(self) -> None:
        self._begun: tuple[int, float] | None = None
        self._known = False

    def begin_again(self) -> None:
        """Leave out what was timed so far, unless that was long enough."""
        if not self._known:
            self._begun = None

    def after(self, steps: int) -> float:
        """Return the steps per second, of which so many are done now; 0 while it is not known."""
        now = time.perf_counter()
        begun, since = self._begun = self._begun or (steps, now)
        self._known = self._known or now - since >= RATE_SECONDS
        return (steps - begun) / max(now - since, 1e-9) if self._known else 0.0


class Clock:
    """Counter of steps and time over all rounds of a run, with progress reports.

    Attributes:
        steps_done: chain steps done, over all chains, those of an earlier process included.
        steps_expected: as in `Progress`; may change from round to round if the total is not known.
        launch: steps of the next launch.
        best_finished: best score of the chains that have left their slots; None if there are none yet.
    """

    def __init__(
        self, steps_total: int | None, progress: Callable[[Progress], None] | None, steps_before: int = 0
    ) -> None:
        self.steps_done = self._steps_before = steps_before
        self.steps_expected = steps_total or 0
        self.launch = _FIRST_LAUNCH
        self._counted = 0
        self.best_finished: int | None = None
        self._steps_total = steps_total
        self._progress = progress
        self._started = time.perf_counter()
        self._rate = StepRate()
        self._acceptance: Mapping[str, float] = {}
        self._looked_up_at = -math.inf

    def look_up(self, acceptance: Callable[[], Mapping[str, float]]) -> None:
        """Update the acceptance of `Progress` if it is reported, at most once per `ACCEPTANCE_SECONDS`."""
        now = time.perf_counter()
        if self._progress is not None and now - self._looked_up_at >= ACCEPTANCE_SECONDS:
            self._looked_up_at, self._acceptance = now, acceptance()

    def seconds(self) -> float:
        """Return the wall time since the run began."""
        return time.perf_counter() - self._started

    def launched(self, length: int, slots: int, seconds: float, best_score: int) -> None:
        """Count a launch of `length` steps on `slots` occupied slots, and report the progress."""
        before, self.launch = self.launch, _next_launch(self.launch, length, seconds)
        if self.launch > 2 * before:
            self._rate.begin_again()  # such short launches take the time of their start
        self.under_way(length * slots, best_score)
        self._counted = 0

    def under_way(self, steps: int, best_score: int) -> None:
        """Count the steps of a launch so far, which may not have ended, and report the progress."""
        self.steps_done += steps - self._counted
        self._counted = steps
        if self._progress is not None:
            best = best_score if self.best_finished is None else max(best_score, self.best_finished)
            expected = max(self.steps_expected, self.steps_done)
            here = self.steps_done - self._steps_before
            rate = self._rate.after(self.steps_done)
            state = (self.steps_done, self._steps_total, expected, best, here, rate)
            self._progress(Progress(*state, self._acceptance))


def _next_launch(launch: int, length: int, seconds: float) -> int:
    """Return the steps of the next launch, to take about LAUNCH_SECONDS; at most four times the last."""
    if length < launch:
        return launch  # cut short by a turnover: not representative
    fitting = int(length * LAUNCH_SECONDS / max(seconds, 1e-6))
    return max(1, min(fitting, 4 * launch))
