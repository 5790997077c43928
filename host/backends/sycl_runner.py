"""SYCL devices: chain states in device memory, many steps a launch."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.base import Runner
from syclade.host.compile.program import KernelSpec, load_kernel
from syclade.host.encodings import Encoding
from syclade.host.errors import DeviceError
from syclade.host.workarounds import prepare
from syclade.kernels.arguments import PROBLEM, Argument

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["SyclRunner"]


class SyclRunner(Runner):
    """One work-group a slot, `lanes` work-items each."""

    def __init__(
        self, encoding: Encoding, slots: int, seed: int, device_filter: str, image: Image | None = None
    ) -> None:
        super().__init__(encoding, slots, seed)
        prepare()
        import dpctl
        import dpctl.memory

        try:
            self._queue = dpctl.SyclQueue(device_filter)
        except Exception as error:  # dpctl's exceptions differ between versions
            raise DeviceError(
                f"device {device_filter} does not open: {error}", hint="run `syclade devices` to look again"
            ) from error
        spec = KernelSpec(encoding.factory, encoding.constants, encoding.arguments)
        self._kernel = load_kernel(self._queue, spec, image)
        self._memory: dict[str, Any] = {}
        problem_arrays = self._problem_arrays()
        try:
            for argument in encoding.arguments:
                block = dpctl.memory.MemoryUSMDevice(argument.nbytes(self._sizes), queue=self._queue)
                if argument.role == PROBLEM:
                    block.copy_from_host(_as_bytes(problem_arrays[argument.name], argument))
                else:
                    block.memset(0)  # a slot that gets no chain must read as one without steps to do
                self._memory[argument.name] = block
        except Exception as error:
            raise DeviceError(
                f"{device_filter} has no memory for {slots} slots: {error}", hint="use fewer --slots"
            ) from error
        self._arguments = self._flatten()

    def _flatten(self) -> list[Any]:
        """The kernel's arguments as numba-dpex lays them out: a flat array is five of them."""
        flat: list[Any] = []
        for argument in self.encoding.arguments:
            item = np.dtype(argument.dtype).itemsize
            count = int(np.prod(argument.dimensions(self._sizes)))
            sizes = (ctypes.c_longlong(count), ctypes.c_longlong(item))
            flat += [*sizes, self._memory[argument.name], *sizes]  # items, item size, data, shape, strides
        return flat

    def _read(self, argument: Argument) -> NDArray[Any]:
        shape = argument.dimensions(self._sizes)
        raw = self._memory[argument.name].copy_to_host()
        return np.frombuffer(raw, dtype=argument.dtype, count=int(np.prod(shape))).reshape(shape)

    def _write(self, argument: Argument, slot: int, values: NDArray[Any]) -> None:
        whole = self._read(argument).copy()
        whole[slot] = values
        self._memory[argument.name].copy_from_host(_as_bytes(whole, argument))

    def _write_all(self, argument: Argument, values: NDArray[Any]) -> None:
        self._memory[argument.name].copy_from_host(_as_bytes(values, argument))

    def _launch(self) -> None:
        width = self.encoding.lanes
        self._queue.submit(self._kernel, self._arguments, [self.slots * width], [width]).wait()

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        return sum(block.nbytes for block in self._memory.values())

    def close(self) -> None:
        """See `Runner.close`."""
        self._arguments = []
        self._memory.clear()


def _as_bytes(values: NDArray[Any], argument: Argument) -> NDArray[np.uint8]:
    """The bytes of an array, flat, in the argument's type."""
    return np.ascontiguousarray(values, argument.dtype).reshape(-1).view(np.uint8)
