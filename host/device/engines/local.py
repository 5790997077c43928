"""Engines whose arrays are in this process: of code in numpy, of kernels by numba, of kernels in Python."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.device.device import Device, usable_cores
from syclade.host.device.engines import HUGE_PAGE, Allocation, Engine, advise_huge_pages
from syclade.host.ground.values import Array
from syclade.kernels.arguments import PROBLEM, SCRATCH
from syclade.kernels.target.python import kernel_of

__all__ = ["LocalEngine", "NativeEngine", "NumpyEngine", "PythonEngine", "spread_order"]


LINE = 64
"""Bytes of a cache line, and of the widest vectors."""

Times = tuple[int, int]


class LocalEngine(Engine):
    """Engine that runs functions of the slot, one slot after another.

    Attributes:
        named: the arrays by argument name.
    """

    clock = "host"

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._require_own_memory()
        self.named: dict[str, Array] = {}
        self._functions: list[Callable[[int], None]] = []
        for argument, contents in self._contents(allocation.problem):
            array = _aligned_zeros(self._shapes[argument.name], np.dtype(argument.dtype))
            if contents is not None:
                array[...] = contents
            self.named[argument.name] = array

    def _add(self, function: Callable[[int], None]) -> int:
        """Store a function of the slot; return its number."""
        self._functions.append(function)
        return len(self._functions) - 1

    def read(self, name: str, slot: int | None = None) -> Array:
        """See `Engine.read`."""
        array = self.named[name]
        return np.array(array if slot is None else array[slot])

    def write(self, name: str, values: ArrayLike, slot: int | None = None) -> None:
        """See `Engine.write`."""
        self.named[name][... if slot is None else slot] = self.part_of(name, values, slot)

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`."""
        for slot, kernel in enumerate(kernels):
            if kernel is not None:
                self._functions[kernel](slot)

    def start(self, kernel: int, slot: int, after: Sequence[Times] = ()) -> Times:
        """See `Engine.start`; the launches in `after` have already ended, and so has this one at the end."""
        begun = time.perf_counter_ns()
        self._functions[kernel](slot)
        return begun, time.perf_counter_ns()

    def wait(self, token: Times) -> None:
        """Do nothing: every launch has already ended."""

    def times(self, token: Times) -> Times:
        """See `Engine.times`."""
        return token

    def close(self) -> None:
        """See `Engine.close`."""
        self._functions.clear()
        self.named.clear()


NumpyCode = Callable[[dict[str, Array], NDArray[np.intp]], None]
"""Function of the arrays by name, which it changes in place, and of the slots to work on."""


class NumpyEngine(LocalEngine):
    """Engine of code in numpy, which works on many slots at once."""

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._loaded: list[tuple[NumpyCode, Callable[[], int]]] = []

    @property
    def memory_bytes(self) -> int:
        """Memory of all arrays and of what the code keeps between launches, in bytes."""
        return super().memory_bytes + sum(memory() for _, memory in self._loaded)

    def load(self, code: NumpyCode, memory: Callable[[], int] = int) -> int:
        """Load code; return its number.

        Args:
            code: the code.
            memory: returns the memory in bytes that it keeps between launches.
        """
        self._loaded.append((code, memory))
        return self._add(lambda slot: code(self.named, np.array([slot])))

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`. An interrupted launch has no effect: arrays are replaced only at the end."""
        arrays = {
            name: array if self.arguments[name].role in (PROBLEM, SCRATCH) else array.copy()
            for name, array in self.named.items()
        }
        for kernel in dict.fromkeys(one for one in kernels if one is not None):
            slots = np.flatnonzero([one == kernel for one in kernels])
            self._loaded[kernel][0](arrays, slots)
        self.named = arrays


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """Return zeros that start at a cache line, so that no row of a table touches an additional line.

    Large ones start at a huge page, and have huge pages where the system gives them.
    """
    size = math.prod(shape) * dtype.itemsize
    unit = LINE if size < HUGE_PAGE else HUGE_PAGE
    raw = np.zeros(size + unit, dtype=np.uint8)
    start = -raw.ctypes.data % unit
    if unit == HUGE_PAGE:
        advise_huge_pages(raw.ctypes.data + start, size)
    return raw[start : start + size].view(dtype).reshape(shape)


class NativeEngine(LocalEngine):
    """Engine that makes one call of a kernel per slot; each thread takes the next slot when it is free."""

    overlaps = True

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._threads = min(usable_cores(), self.slots)
        self._order = spread_order(self.slots, self._threads)
        self._pool = ThreadPoolExecutor(self._threads)
        self._of_slots: list[Callable[[int], None]] = []

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number.

        Raises:
            DeviceError: numba cannot compile the kernel.
        """
        run = load_machine_code(kernel)
        addresses = [self.named[argument.name].ctypes.data for argument in kernel.arguments]
        self._of_slots.append(lambda end: run(0, end, *addresses))
        return self._add(lambda slot: run(slot, slot + 1, *addresses))

    def run_here(self, kernel: int, slots: int) -> None:
        """Run a kernel on the first slots, in this thread and by one call."""
        self._of_slots[kernel](slots)

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

    def begin(self, kernel: int, slot: int) -> Future[None]:
        """See `Engine.begin`."""
        return self._pool.submit(self._functions[kernel], slot)

    def ended(self, tokens: Sequence[Future[None]]) -> list[int]:
        """See `Engine.ended`."""
        done, _ = wait(tokens, return_when=FIRST_COMPLETED)
        for one in done:
            one.result()  # raises what it raised
        return [at for at, one in enumerate(tokens) if one in done]

    def close(self) -> None:
        """See `Engine.close`."""
        self._pool.shutdown(cancel_futures=True)
        self._of_slots.clear()
        super().close()


def spread_order(slots: int, threads: int) -> list[int]:
    """Return all slots, ordered so that slots that run at the same time are far apart in memory.

    Neighbouring slots share cache lines, or pairs of lines that processors fetch together: four threads on
    neighbouring slots took 79 instead of 55 ns per step at 32 cells x 31 mutations.
    """
    distance = -(-slots // threads)
    return [slot for first in range(distance) for slot in range(first, slots, distance)]


class PythonEngine(LocalEngine):
    """Engine that runs one slot after another; a chain step takes milliseconds."""

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number."""
        run = kernel_of(kernel.body(), kernel.lanes, kernel.record_types())
        flat = [self.named[argument.name].reshape(-1) for argument in kernel.arguments]
        return self._add(lambda slot: run(slot, slot + 1, *flat))
