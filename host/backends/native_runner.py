"""This processor, by numba: many steps a call, a thread a core."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from syclade.host.backends.local_runner import LocalRunner
from syclade.host.chains.plan import Plan
from syclade.host.compile.machine_code import load_machine_code
from syclade.host.devices.cores import usable_cores
from syclade.host.encodings.base import Encoding

__all__ = ["NativeRunner"]


class NativeRunner(LocalRunner):
    """A call a slot; threads take the next slot when they have done one."""

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        self._kernel = load_machine_code(self._made)
        self._addresses = [array.ctypes.data for array in self._flat]
        self._threads = min(usable_cores(), slots)
        self._pool = ThreadPoolExecutor(self._threads)

    def _launch(self) -> None:
        waiting = iter(range(self.slots))
        for thread in [self._pool.submit(self._run, waiting) for _ in range(self._threads)]:
            thread.result()

    def _run(self, waiting: Iterator[int]) -> None:
        """Take slots forward until none is left; meanwhile the kernel lets go of Python's lock."""
        for slot in waiting:
            self._kernel(slot, slot + 1, *self._addresses)

    def close(self) -> None:
        """See `Runner.close`."""
        self._pool.shutdown()
        super().close()
