"""Engine of this processor: kernels compiled by numba, one thread per core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.device.cores import usable_cores
from syclade.host.device.device import Device
from syclade.host.device.engines.engine import Allocation
from syclade.host.device.engines.local import LocalEngine

__all__ = ["NativeEngine", "far_apart"]


class NativeEngine(LocalEngine):
    """Engine that makes one call of a kernel per slot; each thread takes the next slot when it is free."""

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._threads = min(usable_cores(), self.slots)
        self._order = far_apart(self.slots, self._threads)
        self._pool = ThreadPoolExecutor(self._threads)

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number.

        Raises:
            DeviceError: numba cannot compile the kernel.
        """
        run = load_machine_code(kernel)
        addresses = [self.named[argument.name].ctypes.data for argument in kernel.arguments]
        return self._add(lambda slot: run(slot, slot + 1, *addresses))

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`."""
        waiting = iter(self._order)
        others = [self._pool.submit(self._run, kernels, waiting) for _ in range(1, self._threads)]
        self._run(kernels, waiting)
        for thread in others:
            thread.result()

    def _run(self, kernels: Sequence[int | None], waiting: Iterator[int]) -> None:
        for slot in waiting:
            kernel = kernels[slot]
            if kernel is not None:
                self._functions[kernel](slot)  # releases the GIL

    def close(self) -> None:
        """See `Engine.close`."""
        self._pool.shutdown()
        super().close()


def far_apart(slots: int, threads: int) -> list[int]:
    """Return all slots, ordered so that slots that run at the same time are far apart in memory.

    Neighbouring slots share cache lines, or pairs of lines that processors fetch together: four threads on
    neighbouring slots took 79 instead of 55 ns per step at 32 cells x 31 mutations.
    """
    distance = -(-slots // threads)
    return [slot for first in range(distance) for slot in range(first, slots, distance)]
