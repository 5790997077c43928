"""The fallback: chain states in numpy arrays."""

from __future__ import annotations

import logging
import math
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.base import Runner
from syclade.host.backends.numpy_workers import NumpyWorkers, State
from syclade.host.devices.cores import usable_cores
from syclade.host.encodings import Encoding
from syclade.kernels.arguments import INFO, STATE, Argument

__all__ = ["NumpyRunner"]

logger = logging.getLogger("syclade.numpy")

WORKERS_AFTER = 0.5
"""Seconds of work before worker processes start: about what they need to start."""


class NumpyRunner(Runner):
    """All slots advance together, each numpy call working on all of them; if it takes long, on all cores."""

    def __init__(self, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(encoding, slots, seed)
        self._state: State = {
            argument.name: np.zeros(argument.dimensions(self._sizes), dtype=argument.dtype)
            for argument in encoding.arguments
            if argument.role in (STATE, INFO)
        }
        self._steps = encoding.numpy_steps()
        self._workers: NumpyWorkers | None = None
        self._seconds = 0.0

    def _read(self, argument: Argument) -> NDArray[Any]:
        return self._state[argument.name]

    def _write(self, argument: Argument, slot: int, values: NDArray[Any]) -> None:
        self._state[argument.name][slot] = values

    def _write_all(self, argument: Argument, values: NDArray[Any]) -> None:
        self._state[argument.name][...] = values

    def _launch(self) -> None:
        # The state is replaced in the end only: what is interrupted has not happened.
        if self._workers is None and self._seconds >= WORKERS_AFTER:
            self._start_workers()
        if self._workers is not None:
            try:
                self._state = self._workers.advance(self._state)
            except BaseException:
                self._stop_workers()
                raise
            return
        started = time.perf_counter()
        state = {name: array.copy() for name, array in self._state.items()}
        self._steps.advance(state, self.seed)
        self._state = state
        self._seconds += time.perf_counter() - started

    def _start_workers(self) -> None:
        count = min(usable_cores(), self.slots)
        if count < 2 or not sys.executable:
            return
        try:
            self._workers = NumpyWorkers(self.encoding, self.seed, count)
        except OSError as error:
            logger.warning("the numpy fallback goes on in one process, for no other starts: %s", error)
            self._seconds = -math.inf
        else:
            self._steps = self.encoding.numpy_steps()  # whose tables have done their service

    def _stop_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()
        self._workers = None

    def cpu_seconds(self) -> float:
        """See `Runner.cpu_seconds`."""
        return super().cpu_seconds() + (0.0 if self._workers is None else self._workers.cpu_seconds)

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        tables = self._steps if self._workers is None else self._workers
        return sum(array.nbytes for array in self._state.values()) + int(tables.memory_bytes)

    def close(self) -> None:
        """See `Runner.close`."""
        self._stop_workers()
        self._state.clear()
