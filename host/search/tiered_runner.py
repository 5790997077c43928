"""A search on a CPU device begins with this processor's own code, and goes over to the driver's if long.

The driver takes seconds to translate the kernels of a search, and 0.1 s to load and launch them where it has:
as long as a small search takes in all. Both give the same searches, and states are values, so that nobody can
tell but by the clock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.compile.ahead import Ahead
from syclade.host.errors import DeviceError
from syclade.host.search.runner import SearchRunner
from syclade.host.search.work import SearchState, Work

__all__ = ["TieredSearchRunner"]

logger = logging.getLogger("syclade.tiers")

WAIT_SECONDS = 4.0
"""Searches that are over before have no use for the driver."""


class TieredSearchRunner(SearchRunner):
    """Takes its searches from one runner to another between two launches."""

    def __init__(
        self, first: SearchRunner, start: Callable[[], Ahead | None], better: Callable[[], SearchRunner]
    ) -> None:
        """Begin with one runner.

        Args:
            first: that one.
            start: begins to make the other one's kernels ready; None where they are.
            better: makes the other one.
        """
        super().__init__(first.problem, first.slots, first.seed)
        self.tier = first.tier
        self._runner = first
        self._start: Callable[[], Ahead | None] | None = start
        self._better = better
        self._ahead: Ahead | None = None
        self._begun = time.monotonic()
        self._filled: set[int] = set()

    def put(self, slot: int, state: SearchState) -> None:
        """See `SearchRunner.put`."""
        self._filled.add(slot)
        self._runner.put(slot, state)

    def get(self, slot: int) -> SearchState:
        """See `SearchRunner.get`."""
        return self._runner.get(slot)

    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """See `SearchRunner.run`."""
        if self._ahead is not None and self._ahead.ended():
            self._take_over(self._ahead.failure())
        elif self._start is not None and time.monotonic() - self._begun > WAIT_SECONDS:
            self._begin(self._start)
        return self._runner.run(works)

    def _begin(self, start: Callable[[], Ahead | None]) -> None:
        """Make the other runner ready, and go over if it is."""
        self._start = None
        try:
            self._ahead = start()
        except DeviceError as error:
            return self._take_over(str(error))
        if self._ahead is None:
            self._take_over(None)
        return None

    def _take_over(self, failure: str | None) -> None:
        self._stop()
        try:
            if failure is not None:
                raise DeviceError(failure)
            better = self._better()
            for slot in self._filled:
                better.put(slot, self._runner.get(slot))
        except DeviceError as error:
            logger.info("the search goes on with this processor's own code: %s", error)
            return
        self._runner.close()
        self._runner, self.tier = better, better.tier

    def _stop(self) -> None:
        if self._ahead is not None:
            self._ahead.stop()
            self._ahead = None

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._stop()
        self._runner.close()
