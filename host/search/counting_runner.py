"""Search runner that counts the sweeps of its executor."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.devices.work import SWEEPS, WorkDone, WorkLog
from syclade.host.search.runner import SearchRunner
from syclade.host.search.work import SearchState, Work

__all__ = ["CountingSearchRunner"]


class CountingSearchRunner(SearchRunner):
    """Search runner that passes all calls on to another one and counts its sweeps."""

    def __init__(self, runner: SearchRunner) -> None:
        super().__init__(runner.problem, runner.slots, runner.seed)
        self.executor, self.kernel = runner.executor, runner.kernel
        self._runner = runner
        self._counted: dict[int, int] = {}
        self._log = WorkLog(runner.executor, runner.kernel, SWEEPS)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """Sweeps done so far, and the time that they took."""
        self._count(tuple(self._counted))
        return self._log.work

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
        started = time.perf_counter()
        scores = self._runner.run(works)
        self._log.add(0, time.perf_counter() - started)
        return scores

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._runner.close()
