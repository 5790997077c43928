"""The fallback: chain states in numpy arrays."""

from __future__ import annotations

import logging
import math
import sys
import time

from syclade.host.backends.array_runner import ArrayRunner
from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.backends.numpy_steps import numpy_steps
from syclade.host.backends.numpy_workers import NumpyWorkers
from syclade.host.chains.kernel import argument_records, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.devices.cores import usable_cores
from syclade.host.devices.device import NUMPY
from syclade.host.encodings.plain import PlainEncoding
from syclade.kernels.arguments import PROBLEM, SCRATCH

__all__ = ["NumpyRunner"]

logger = logging.getLogger("syclade.numpy")

WORKERS_AFTER = 0.5
"""Seconds of work before worker processes start: about what they need to start."""


class NumpyRunner(ArrayRunner):
    """All slots advance together, each numpy call working on all of them; if it takes long, on all cores."""

    executor = NUMPY

    def __init__(self, plan: Plan, slots: int, seed: int) -> None:
        encoding = PlainEncoding(plan.problem, nodes=plan.labels + 1)
        super().__init__(plan, encoding, slots, seed)
        arguments = [one for record in argument_records(plan, encoding) for one in record.arguments]
        sizes = chain_sizes(plan, encoding, slots)
        kept = [one for one in arguments if one.role not in (PROBLEM, SCRATCH)]
        self._numpy = NumpyArrays(kept, sizes, {})
        self._arrays = self._numpy
        self._steps = numpy_steps(plan)
        self._workers: NumpyWorkers | None = None
        self._seconds = 0.0

    def _launch(self) -> None:
        # The state is replaced in the end only: what is interrupted has not happened.
        if self._workers is None and self._seconds >= WORKERS_AFTER:
            self._start_workers()
        if self._workers is not None:
            try:
                self._numpy.named = self._workers.advance(self._numpy.named)
            except BaseException:
                self._stop_workers()
                raise
            return
        started = time.perf_counter()
        state = {name: array.copy() for name, array in self._numpy.named.items()}
        self._steps.advance(state, self.seed)
        self._numpy.named = state
        self._seconds += time.perf_counter() - started

    def _start_workers(self) -> None:
        count = min(usable_cores(), self.slots)
        if count < 2 or not sys.executable:
            return
        try:
            self._workers = NumpyWorkers(self.plan, self.seed, count)
        except OSError as error:
            logger.warning("the numpy fallback goes on in one process, for no other starts: %s", error)
            self._seconds = -math.inf
        else:
            self._steps = numpy_steps(self.plan)  # whose tables have done their service

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
        return super().memory_bytes + tables.memory_bytes

    def close(self) -> None:
        """See `Runner.close`."""
        self._stop_workers()
        super().close()
