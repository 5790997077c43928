"""Engine of an NVIDIA GPU: arrays in its memory, a warp per slot."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.ptx import load_ptx
from syclade.host.device.cuda import open_gpu
from syclade.host.device.device import Device
from syclade.host.device.engines.engine import Allocation, Engine
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.target.cuda.traits import THREADS

if TYPE_CHECKING:
    from cuda.bindings.driver import CUfunction, CUstream

    from syclade.host.device.cuda import Event

__all__ = ["CudaEngine"]


class Launch(NamedTuple):
    """Events around a launch on one slot."""

    begun: Event
    ended: Event


class CudaEngine(Engine):
    """Engine of one GPU. Launches on all slots use one stream, launches on single slots a stream each."""

    clock = "device"

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._gpu = open_gpu(device)
        self._addresses: dict[str, int] = {}
        self._loaded: list[tuple[CUfunction, Kernel]] = []
        self._stream = self._gpu.stream()
        self._streams: dict[int, CUstream] = {}
        self._origin = self._gpu.event(self._stream)
        try:
            self._allocate(allocation)
        except BaseException:
            self.close()
            raise

    def _allocate(self, allocation: Allocation) -> None:
        """Allocate all arrays, filled with their contents or with zeros."""
        self._require_memory()
        for argument, contents in self._contents(allocation.problem):
            address = self._gpu.allocate(argument.nbytes(self.sizes))
            self._addresses[argument.name] = address
            if contents is not None:
                self._gpu.copy_to(address, np.ascontiguousarray(contents, argument.dtype))

    def _require_memory(self) -> None:
        """Check that the GPU has the memory of all arrays.

        Raises:
            DeviceMemoryError: it has not.
        """
        needed, free = self._bytes_of_arrays(), self._gpu.free_bytes()
        if needed > free:
            raise DeviceMemoryError(
                f"{self.slots} slots need {needed / 2**30:.1f} GiB, and {self.device.name} has "
                f"{free / 2**30:.1f} GiB free",
                hint=f"use fewer {flag_of('slots')}",
            )

    def _place(self, name: str, slot: int | None) -> tuple[int, tuple[int, ...]]:
        """Return the address and the shape of an array, or of one slot's part of it."""
        argument = self.arguments[name]
        shape = self._shapes[name]
        if slot is None:
            return self._addresses[name], shape
        size = argument.nbytes(self.sizes) // self.slots
        return self._addresses[name] + range(self.slots)[slot] * size, shape[1:]

    def read(self, name: str, slot: int | None = None) -> Array:
        """See `Engine.read`."""
        address, shape = self._place(name, slot)
        values: Array = np.empty(shape, dtype=self.arguments[name].dtype)
        self._gpu.copy_from(address, values)
        return values

    def write(self, name: str, values: ArrayLike, slot: int | None = None) -> None:
        """See `Engine.write`."""
        address, _ = self._place(name, slot)
        self._gpu.copy_to(address, self.part_of(name, values, slot))

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number.

        Raises:
            DeviceError: it cannot be compiled, or the driver refuses it.
        """
        self._loaded.append((self._gpu.function(*load_ptx(kernel)), kernel))
        return len(self._loaded) - 1

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`; each kernel runs on all slots."""
        for number in dict.fromkeys(one for one in kernels if one is not None):
            function, kernel = self._loaded[number]
            addresses = [self._addresses[one.name] for one in kernel.arguments]
            threads = self.slots * kernel.lanes
            self._gpu.launch(function, threads, THREADS, self.slots, addresses, self._stream)
        self._gpu.finish(self._stream)

    def start(self, kernel: int, slot: int, after: Sequence[Any] = ()) -> Any:
        """See `Engine.start`; the token is a `Launch`.

        The slot's parts of the arrays are those of slot 0 for the kernel.
        """
        function, described = self._loaded[kernel]
        if slot not in self._streams:
            self._streams[slot] = self._gpu.stream()
        stream = self._streams[slot]
        for earlier in after:
            self._gpu.wait_in(stream, earlier.ended)
        addresses = [
            self._place(one.name, slot if "slots" in one.shape else None)[0] for one in described.arguments
        ]
        begun = self._gpu.event(stream)
        self._gpu.launch(function, described.lanes, THREADS, 1, addresses, stream)
        return Launch(begun, self._gpu.event(stream))

    def wait(self, token: Any) -> None:
        """See `Engine.wait`."""
        self._gpu.wait(token.ended)

    def times(self, token: Any) -> tuple[int, int]:
        """See `Engine.times`; the clock starts when the engine opens."""
        begun, ended = (self._gpu.nanoseconds(self._origin, one) for one in token)
        return begun, ended

    def close(self) -> None:
        """See `Engine.close`."""
        self._loaded.clear()
        with suppress(DeviceError):  # a GPU that has failed frees nothing
            for stream in (*self._streams.values(), self._stream):
                self._gpu.close_stream(stream)
            for address in self._addresses.values():
                self._gpu.free(address)
        self._streams.clear()
        self._addresses.clear()
