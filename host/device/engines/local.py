"""Engines whose arrays are in this process: their base, and the one of code in numpy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.device.device import Device
from syclade.host.device.engines.engine import Allocation, Engine
from syclade.host.device.engines.huge_pages import HUGE_PAGE, advise_huge_pages
from syclade.kernels.arguments import PROBLEM, SCRATCH

__all__ = ["LocalEngine", "NumpyEngine"]

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
        self.named: dict[str, NDArray[Any]] = {}
        self._functions: list[Callable[[int], None]] = []
        for argument, contents in self._contents(allocation.problem):
            array = _aligned_zeros(argument.dimensions(self.sizes), np.dtype(argument.dtype))
            if contents is not None:
                array[...] = contents
            self.named[argument.name] = array

    def _add(self, function: Callable[[int], None]) -> int:
        """Store a function of the slot; return its number."""
        self._functions.append(function)
        return len(self._functions) - 1

    def read(self, name: str, slot: int | None = None) -> NDArray[Any]:
        """See `Engine.read`."""
        array = self.named[name]
        return np.array(array if slot is None else array[slot])

    def write(self, name: str, values: Any, slot: int | None = None) -> None:
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


NumpyCode = Callable[[dict[str, NDArray[Any]], NDArray[np.intp]], None]
"""Function of the arrays by name, which it changes in place, and of the slots to work on."""


class NumpyEngine(LocalEngine):
    """Engine of code in numpy, which works on many slots at once."""

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._loaded: list[tuple[NumpyCode, Callable[[], int]]] = []

    @property
    def memory_bytes(self) -> int:
        """Memory of all arrays and of what the code keeps between launches, in bytes."""
        return super().memory_bytes + sum(kept() for _, kept in self._loaded)

    def load(self, code: NumpyCode, kept: Callable[[], int] = int) -> int:
        """Load code; return its number.

        Args:
            code: the code.
            kept: returns the memory in bytes that it keeps between launches.
        """
        self._loaded.append((code, kept))
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


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
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
