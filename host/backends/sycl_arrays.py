"""Kernel arguments in the memory of a SYCL device, and launches of kernels on them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.arrays import Arrays
from syclade.host.common.errors import DeviceMemoryError
from syclade.host.devices.forks import refuse_inherited_sycl
from syclade.host.options import flag_of
from syclade.kernels.arguments import Argument

__all__ = ["SyclArrays"]


class SyclArrays(Arrays):
    """Device memory of a queue; see `Arrays`."""

    def __init__(
        self,
        queue: Any,
        arguments: Sequence[Argument],
        sizes: Mapping[str, int],
        problem: Mapping[str, NDArray[Any]],
    ) -> None:
        self._queue = queue
        self._memory: dict[str, Any] = {}
        super().__init__(arguments, sizes, problem)

    def _allocate(self, argument: Argument, shape: tuple[int, ...], contents: NDArray[Any] | None) -> None:
        import dpctl.memory

        try:
            block = dpctl.memory.MemoryUSMDevice(argument.nbytes(self.sizes), queue=self._queue)
            if contents is None:
                block.memset(0)  # a slot without a chain must have no steps to do
            else:
                block.copy_from_host(_as_bytes(np.ascontiguousarray(contents, argument.dtype)))
        except Exception as error:
            name = self._queue.sycl_device.name.strip()
            raise DeviceMemoryError(
                f"{name} has no memory for {self.slots} slots: {error}", hint=f"use fewer {flag_of('slots')}"
            ) from error
        self._memory[argument.name] = block

    def read(self, name: str, slot: int | None = None) -> NDArray[Any]:
        """See `Arrays.read`."""
        argument = self.arguments[name]
        shape = argument.dimensions(self.sizes)
        if slot is not None:
            shape = shape[1:]
        raw = self._part(name, slot).copy_to_host()
        return np.frombuffer(raw, dtype=argument.dtype, count=math.prod(shape)).reshape(shape).copy()

    def write(self, name: str, values: Any, slot: int | None = None) -> None:
        """See `Arrays.write`."""
        self._part(name, slot).copy_from_host(_as_bytes(self.part_of(name, values, slot)))

    def _part(self, name: str, slot: int | None) -> Any:
        """Return the memory of an array, or of one slot's part of it."""
        import dpctl.memory

        refuse_inherited_sycl()
        whole = self._memory[name]
        if slot is None:
            return whole
        size = self.arguments[name].nbytes(self.sizes) // self.slots
        return dpctl.memory.MemoryUSMDevice(_Part(whole, slot * size, size), queue=self._queue)

    def flat(self, arguments: Sequence[Argument], slot: int | None = None) -> list[Any]:
        """Return arguments as numba-dpex passes them: a flat array becomes five kernel arguments.

        Args:
            arguments: arguments of a kernel.
            slot: pass only this slot's parts, which are slot 0 for the kernel; None passes all slots.
        """
        flat: list[Any] = []
        for argument in arguments:
            own = slot if "slots" in argument.shape else None
            item = np.dtype(argument.dtype).itemsize
            count = argument.nbytes(self.sizes) // item // (1 if own is None else self.slots)
            sizes = (ctypes.c_longlong(count), ctypes.c_longlong(item))
            flat += [*sizes, self._part(argument.name, own), *sizes]  # items, item size, data, shape, strides
        return flat

    def launch(self, kernels: Sequence[Any], flat: list[Any], lanes: int) -> None:
        """Run kernels with one work-group per slot, and wait for all of them.

        Kernels that are launched together must work on different slots.

        Args:
            kernels: objects of `dpctl.program.SyclKernel`.
            flat: arguments of every kernel, from `flat`.
            lanes: work-items per slot.

        Raises:
            DeviceError: this process was forked from one that had used SYCL.
        """
        refuse_inherited_sycl()
        for launched in [
            self._queue.submit(kernel, flat, [self.slots * lanes], [lanes]) for kernel in kernels
        ]:
            launched.wait()

    def close(self) -> None:
        """See `Arrays.close`."""
        self._memory.clear()


class _Part:
    """A range of bytes in a block of device memory, in the form that dpctl accepts."""

    def __init__(self, whole: Any, start: int, size: int) -> None:
        described = dict(whole.__sycl_usm_array_interface__)
        pointer, read_only = described["data"]
        described |= {"data": (pointer + start, read_only), "shape": (size,), "strides": None, "offset": 0}
        self.__sycl_usm_array_interface__ = described
        self.whole = whole  # keeps the block alive


def _as_bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of an array: uint8, one-dimensional."""
    return values.reshape(-1).view(np.uint8)
