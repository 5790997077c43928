"""Engine of a SYCL device: arrays in its memory, one work-group per slot, kernels translated in parallel.

A driver translates one kernel at a time per process, however many threads call it (measured: the CPU driver
and the FPGA emulator, 2024.2). So subprocesses translate kernels while this process does something else; it
reads from the cache what they have translated. Run as `python -m syclade.host.device.engines.sycl DEVICE`
with the pickled kernels on standard input, this module is such a subprocess.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import announce_translation, is_compiled, is_translated, load_kernel
from syclade.host.device.device import (
    Device,
    device_of,
    open_queue,
    queue_beside,
    refuse_inherited_sycl,
    require_float64,
    usable_cores,
)
from syclade.host.device.engines import Allocation, Engine, advise_huge_pages
from syclade.host.ground.cache import cache_problem
from syclade.host.ground.errors import DeviceMemoryError, SycladeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument

if TYPE_CHECKING:
    from dpctl import SyclEvent, SyclQueue
    from dpctl.memory import MemoryUSMDevice
    from dpctl.program import SyclKernel

    from syclade.host.device.compile.image import Image

__all__ = ["ParallelTranslation", "SyclEngine", "Translator"]

_OF_THIS_PROCESS = ("cpu", "fpga-emu")
"""Kinds of devices whose memory is this process's."""


class SyclEngine(Engine):
    """Engine of a queue.

    Its methods raise DeviceError in a process that was forked from one that had used SYCL.

    Args:
        device, allocation, images, timed: as for `open_engine`.
    """

    clock = "device"

    def __init__(
        self,
        device: Device,
        allocation: Allocation,
        *,
        images: Mapping[str, Image] = MappingProxyType({}),
        timed: bool = False,
    ) -> None:
        self._queue = open_queue(device.filter, timed=timed)
        if any(np.dtype(one.dtype) == np.float64 for one in allocation.arguments):
            require_float64(self._queue)
        super().__init__(device_of(self._queue), allocation)
        if self.device.kind in _OF_THIS_PROCESS:
            self._require_own_memory()
        self._images = images
        self._parallel: ParallelTranslation | None = None
        self._loaded: list[tuple[SyclKernel, Kernel]] = []
        self._flat: dict[tuple[int, int | None], list[object]] = {}
        self._beside: list[SyclQueue] = []  # one for each kernel that runs at the same time
        self._memory = {
            argument.name: self._allocated(argument, contents)
            for argument, contents in self._contents(allocation.problem)
        }

    def _allocated(self, argument: Argument, contents: Array | None) -> MemoryUSMDevice:
        """Return device memory with the contents, or with zeros."""
        import dpctl.memory

        try:
            block = dpctl.memory.MemoryUSMDevice(argument.nbytes(self.sizes), queue=self._queue)
            if self.device.kind in _OF_THIS_PROCESS:
                advise_huge_pages(block.__sycl_usm_array_interface__["data"][0], block.nbytes)
            if contents is None:
                block.memset(0)  # a slot without a chain must have no steps to do
            else:
                block.copy_from_host(_as_bytes(np.ascontiguousarray(contents, argument.dtype)))
        except Exception as error:
            raise DeviceMemoryError(
                f"{self.device.name} has no memory for {self.slots} slots: {error}",
                hint=f"use fewer {flag_of('slots')}",
            ) from error
        return block

    def read(self, name: str, slot: int | None = None) -> Array:
        """See `Engine.read`."""
        argument = self.arguments[name]
        shape = self._shapes[name]
        if slot is not None:
            shape = shape[1:]
        raw = self._part(name, slot).copy_to_host()
        return np.frombuffer(raw, dtype=argument.dtype, count=math.prod(shape)).reshape(shape).copy()

    def write(self, name: str, values: ArrayLike, slot: int | None = None) -> None:
        """See `Engine.write`."""
        self._part(name, slot).copy_from_host(_as_bytes(self.part_of(name, values, slot)))

    def _part(self, name: str, slot: int | None) -> MemoryUSMDevice:
        """Return the memory of an array, or of one slot's part of it."""
        import dpctl.memory

        refuse_inherited_sycl()
        whole = self._memory[name]
        if slot is None:
            return whole
        size = self.arguments[name].nbytes(self.sizes) // self.slots
        return dpctl.memory.MemoryUSMDevice(_Part(whole, slot * size, size), queue=self._queue)

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """See `Engine.prepare`."""
        self._parallel = ParallelTranslation(self.device, self._queue, kernels)

    def load(self, kernel: Kernel) -> int:
        """Load a kernel, from its image if the engine has one; return its number.

        Raises:
            DeviceError: the device cannot build the kernel.
        """
        if self._parallel is not None:
            self._parallel.wait_for(kernel)
        self._loaded.append((load_kernel(self._queue, kernel, self._images.get(kernel.name)), kernel))
        return len(self._loaded) - 1

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`; each kernel runs on all slots."""
        different = list(dict.fromkeys(kernel for kernel in kernels if kernel is not None))
        while len(self._beside) < len(different) - 1:
            self._beside.append(queue_beside(self._queue))
        queues = [self._queue, *self._beside]
        for token in [
            self._submit(queue, kernel, None) for queue, kernel in zip(queues, different, strict=False)
        ]:
            token.wait()

    def launch_groups(self, kernel: int, groups: int) -> None:
        """Run a kernel whose work-groups have no slots of their own, and wait for it."""
        refuse_inherited_sycl()
        built, described = self._loaded[kernel]
        flat, lanes = self._arguments_of(described, None), described.lanes
        self._queue.submit(built, flat, [groups * lanes], [lanes]).wait()

    def start(self, kernel: int, slot: int, after: Sequence[SyclEvent] = ()) -> SyclEvent:
        """See `Engine.start`; the token is a `dpctl.SyclEvent`, and the queue is out of order."""
        return self._submit(self._queue, kernel, slot, after)

    def _submit(
        self, queue: SyclQueue, kernel: int, slot: int | None, after: Sequence[SyclEvent] = ()
    ) -> SyclEvent:
        """Submit a kernel for one slot, or for all; return the event."""
        refuse_inherited_sycl()
        built, described = self._loaded[kernel]
        if (kernel, slot) not in self._flat:
            self._flat[kernel, slot] = self._arguments_of(described, slot)
        size = described.lanes * (self.slots if slot is None else 1)
        return queue.submit(built, self._flat[kernel, slot], [size], [described.lanes], list(after))

    def _arguments_of(self, kernel: Kernel, slot: int | None) -> list[object]:
        """Return a kernel's arguments as numba-dpex passes them: an array becomes five kernel arguments.

        Args:
            kernel: the kernel.
            slot: pass only this slot's parts, which are slot 0 for the kernel; None passes all slots.
        """
        flat: list[object] = []
        for argument in kernel.arguments:
            own = slot if "slots" in argument.shape else None
            item = np.dtype(argument.dtype).itemsize
            count = argument.nbytes(self.sizes) // item // (1 if own is None else self.slots)
            sizes = (ctypes.c_longlong(count), ctypes.c_longlong(item))
            flat += [*sizes, self._part(argument.name, own), *sizes]  # items, item size, data, shape, strides
        return flat

    def wait(self, token: SyclEvent) -> None:
        """See `Engine.wait`."""
        token.wait()

    def times(self, token: SyclEvent) -> tuple[int, int]:
        """See `Engine.times`; the engine must have been opened with `timed`."""
        return token.profiling_info_start, token.profiling_info_end

    def close(self) -> None:
        """See `Engine.close`."""
        if self._parallel is not None:
            self._parallel.close()
        self._loaded.clear()
        self._flat.clear()
        self._beside.clear()
        self._memory.clear()


class _Part:
    """A range of bytes in a block of device memory, in the form that dpctl accepts."""

    def __init__(self, whole: MemoryUSMDevice, start: int, size: int) -> None:
        described = dict(whole.__sycl_usm_array_interface__)
        pointer, read_only = described["data"]
        described |= {"data": (pointer + start, read_only), "shape": (size,), "strides": None, "offset": 0}
        self.__sycl_usm_array_interface__ = described
        self.whole = whole  # keeps the block alive


def _as_bytes(values: Array) -> NDArray[np.uint8]:
    """Return the bytes of an array: uint8, one-dimensional."""
    return values.reshape(-1).view(np.uint8)


_LOOK_SECONDS = 0.01

_SECONDS = 4
"""Approximate time on two cores for the kernels of a search and of a chain."""


class ParallelTranslation:
    """Running translations in subprocesses. The owner must call `close`."""

    def __init__(self, device: Device, queue: SyclQueue, kernels: Sequence[Kernel]) -> None:
        """Start at most one subprocess per core, this process's own core excepted.

        Args:
            device, queue: the device, and a queue of it.
            kernels: kernels in the order in which they will be needed; the first ones are left to this
                process.
        """
        self._queue = queue
        self._others: list[tuple[Translator, list[Kernel]]] = []
        missing = [kernel for kernel in kernels if not is_translated(queue, kernel)]
        if not missing:
            return
        if all(is_compiled(kernel) for kernel in missing):  # otherwise the compiler announces its time
            announce_translation(queue, _SECONDS)
        if cache_problem() is not None:  # this process could not read what others translate
            return
        share = -(-len(missing) // usable_cores())
        for first in range(share, len(missing), share):
            part = missing[first : first + share]
            try:
                self._others.append((Translator(device, part), part))
            except OSError:  # no more processes can start: this one translates the rest
                return

    def wait_for(self, kernel: Kernel) -> None:
        """Wait until a kernel is translated, if a subprocess does it."""
        for process, part in self._others:
            if kernel in part:
                while not process.ended() and not is_translated(self._queue, kernel):
                    time.sleep(_LOOK_SECONDS)

    def close(self) -> None:
        """Stop the subprocesses, whether they have finished or not."""
        for process, _ in self._others:
            process.stop()
        self._others = []


class Translator:
    """Subprocess that loads kernels, which translates them into the cache. The owner must call `stop`."""

    def __init__(self, device: Device, kernels: Sequence[Kernel]) -> None:
        # The subprocess must be able to import the same modules: parts of a kernel may be a user's own.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "syclade.host.device.engines.sycl", device.filter],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C reaches only the run, which stops this process
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            stream.write(pickle.dumps(list(kernels)))

    def ended(self) -> bool:
        """Return whether the subprocess has ended, successfully or not."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """Kill the subprocess, whether it has finished or not."""
        self._process.kill()
        self._process.wait()


def _main(device: str) -> int:
    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    try:
        queue = open_queue(device)
        for kernel in kernels:
            load_kernel(queue, kernel)
    except SycladeError:  # the run that waits for the kernel fails likewise, and reports why
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
