"""The runner of a search: counts the work of each executor, and may change to another one in a long search.

A driver takes seconds to translate the kernels of a search, as long as a small search takes in all. So the
device `auto` begins a search on a CPU device with this processor's own code, and changes to the driver's
between two launches if the search is long. Both give the same searches: states are values.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.compile.ahead import Ahead
from syclade.host.devices.work import SWEEPS, WorkDone, WorkLog
from syclade.host.errors import DeviceError
from syclade.host.search.runner import SearchRunner
from syclade.host.search.work import SearchState, Work

__all__ = ["BetterSearch", "TieredSearchRunner"]

logger = logging.getLogger("syclade.tiers")

WAIT_SECONDS = 4.0
"""A search that has ended by then has no use for the driver."""


@dataclass(frozen=True)
class BetterSearch:
    """A runner whose kernels are not translated yet.

    Attributes:
        start: begins to translate its kernels in the background; None where they are translated.
        open: makes it.
    """

    start: Callable[[], Ahead | None]
    open: Callable[[], SearchRunner]


class TieredSearchRunner(SearchRunner):
    """Moves its searches from one runner to another between two launches."""

    def __init__(self, first: SearchRunner, better: BetterSearch | None = None) -> None:
        """Begin with one runner, and change to a better one if the search is long."""
        super().__init__(first.problem, first.slots, first.seed)
        self._runner = first
        self._better = better
        self._ahead: Ahead | None = None
        self._begun = time.monotonic()
        self._counted: dict[int, int] = {}
        self._log = WorkLog(SWEEPS)
        self._switch_to(first)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The sweeps of each executor so far, in their order."""
        self._count(tuple(self._counted))
        return self._log.work

    def _switch_to(self, runner: SearchRunner) -> None:
        self._runner, self.executor, self.kernel = runner, runner.executor, runner.kernel
        self._log.switch_to(runner.executor, runner.kernel)

    def _count(self, slots: Sequence[int]) -> None:
        """Count the sweeps of these slots since they were last counted."""
        for slot in slots:
            sweep = self._runner.get(slot).sweep
            self._log.add(sweep - self._counted[slot], 0.0)
            self._counted[slot] = sweep

    def put(self, slot: int, state: SearchState) -> None:
        """See `SearchRunner.put`."""
        if slot in self._counted:
            self._count([slot])
        self._runner.put(slot, state)
        self._counted[slot] = state.sweep

    def get(self, slot: int) -> SearchState:
        """See `SearchRunner.get`."""
        return self._runner.get(slot)

    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """See `SearchRunner.run`."""
        if self._better is not None:
            self._improve(self._better)
        started = time.perf_counter()
        scores = self._runner.run(works)
        self._log.add(0, time.perf_counter() - started)
        return scores

    def _improve(self, better: BetterSearch) -> None:
        """Have the other kernels translated once that pays, and change over when they are."""
        if self._ahead is not None:
            if self._ahead.ended():
                self._change_to(better, self._ahead.failure())
        elif time.monotonic() - self._begun > WAIT_SECONDS:
            try:
                self._ahead = better.start()
            except DeviceError as error:
                self._change_to(better, str(error))
            else:
                if self._ahead is None:
                    self._change_to(better, None)

    def _change_to(self, better: BetterSearch, failure: str | None) -> None:
        self._forget_better()
        try:
            if failure is not None:
                raise DeviceError(failure)
            runner = better.open()
            for slot in self._counted:
                runner.put(slot, self._runner.get(slot))
        except DeviceError as error:
            logger.info("the search goes on with this processor's own code: %s", error)
            return
        self._count(tuple(self._counted))
        self._runner.close()
        self._switch_to(runner)

    def _forget_better(self) -> None:
        if self._ahead is not None:
            self._ahead.stop()
        self._ahead = self._better = None

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._forget_better()
        self._runner.close()
