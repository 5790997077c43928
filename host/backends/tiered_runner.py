"""A runner that begins on what is ready, and changes to a better kernel once that is compiled."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.base import Advanced, Runner
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.compile.ahead import Ahead
from syclade.host.devices.work import STEPS, WorkDone, WorkLog
from syclade.host.errors import DeviceError

__all__ = ["Better", "TieredRunner"]

logger = logging.getLogger("syclade.tiers")


@dataclass(frozen=True)
class Better:
    """A kernel that is not compiled yet.

    Attributes:
        kernel: its name.
        start: begins to compile it in the background.
        open: makes its runner once that is done.
        wait_seconds: how long the run has to be under way before compiling pays.
    """

    kernel: str
    start: Callable[[], Ahead]
    open: Callable[[], Runner]
    wait_seconds: float


class TieredRunner(Runner):
    """Moves its chains from one runner to another between two launches.

    Attributes:
        kernel: the kernel that does the steps now.
    """

    def __init__(self, runner: Runner, kernel: str, better: Better | None = None) -> None:
        super().__init__(runner.plan, runner.encoding, runner.slots, runner.seed)
        self.kernel = kernel
        self.executor = runner.executor
        self._log = WorkLog(STEPS)
        self._log.switch_to(runner.executor, kernel)
        self._runner = runner
        self._better = better
        self._ahead: Ahead | None = None
        self._seconds = 0.0
        self._steps = np.full(runner.slots, -1, dtype=np.int64)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps of each executor and kernel so far, in their order."""
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
        self._forget_better()
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
        if self._better is not None:
            self._improve(self._better)
        started = time.perf_counter()
        advanced = self._runner.advance(targets)
        seconds = time.perf_counter() - started
        self._seconds += seconds
        occupied = self._steps >= 0
        self._log.add(int((advanced.steps - self._steps)[occupied].sum()), seconds)
        self._steps[occupied] = advanced.steps[occupied]
        return advanced

    def _improve(self, better: Better) -> None:
        """Start the compilation when it is due, and change over when it is done."""
        if self._ahead is None:
            if self._seconds >= better.wait_seconds:
                self._ahead = better.start()
            return
        if not self._ahead.ended():
            return
        failure = self._ahead.failure()
        try:
            if failure is not None:
                raise DeviceError(failure)
            self._change_to(better)
        except DeviceError as error:
            level = logging.WARNING if self.kernel == "numpy" else logging.INFO
            logger.log(level, "going on with the %s kernel: %s", self.kernel, error)
        finally:
            self._forget_better()

    def _change_to(self, better: Better) -> None:
        runner = better.open()
        for slot in np.flatnonzero(self._steps >= 0).tolist():
            runner.put(slot, self._runner.get(slot), self._runner.info(slot))
        self._runner.close()
        self._runner, self.encoding, self.kernel = runner, runner.encoding, better.kernel
        self.executor = runner.executor
        self._log.switch_to(runner.executor, better.kernel)
        logger.info("the kernel for these sizes is compiled, and has taken over")

    def _forget_better(self) -> None:
        if self._ahead is not None:
            self._ahead.stop()
        self._ahead = self._better = None
