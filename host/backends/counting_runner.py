"""A runner that counts the steps of its executor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.base import Advanced, Runner
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.devices.work import STEPS, WorkDone, WorkLog

__all__ = ["CountingRunner"]


class CountingRunner(Runner):
    """A wrapper that forwards every call to another runner and counts its steps.

    Attributes:
        kernel: name of the kernel that does the steps, as in `WorkDone`.
    """

    def __init__(self, runner: Runner, kernel: str) -> None:
        super().__init__(runner.plan, runner.encoding, runner.slots, runner.seed)
        self.kernel = kernel
        self.executor = runner.executor
        self._runner = runner
        self._log = WorkLog(runner.executor, kernel, STEPS)
        self._steps = np.full(runner.slots, -1, dtype=np.int64)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps so far, per executor and kernel."""
        return self._log.work

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        return self._runner.memory_bytes

    def cpu_seconds(self) -> float:
        """See `Runner.cpu_seconds`."""
        return self._runner.cpu_seconds()

    def close(self) -> None:
        """See `Runner.close`."""
        self._runner.close()

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """See `Runner.put`."""
        self._runner.put(slot, state, info)
        self._steps[slot] = state.step

    def put_all(self, states: Sequence[ChainState]) -> None:
        """See `Runner.put_all`."""
        self._runner.put_all(states)
        self._steps[:] = [state.step for state in states]

    def set_gamma(self, slot: int, gamma: float) -> None:
        """See `Runner.set_gamma`."""
        self._runner.set_gamma(slot, gamma)

    def get(self, slot: int) -> ChainState:
        """See `Runner.get`."""
        return self._runner.get(slot)

    def info(self, slot: int) -> ChainInfo:
        """See `Runner.info`."""
        return self._runner.info(slot)

    def read_all(self, name: str) -> NDArray[Any]:
        """See `Runner.read_all`."""
        return self._runner.read_all(name)

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """See `Runner.advance`."""
        started = time.perf_counter()
        advanced = self._runner.advance(targets)
        seconds = time.perf_counter() - started
        occupied = self._steps >= 0
        self._log.add(int((advanced.steps - self._steps)[occupied].sum()), seconds)
        self._steps[occupied] = advanced.steps[occupied]
        return advanced
