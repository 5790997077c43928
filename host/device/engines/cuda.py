"""Engine of an NVIDIA GPU: arrays in its memory, a warp per slot, kernels made ahead by subprocesses.

A process compiles and translates one kernel at a time, whatever the threads. So subprocesses make PTX for our
cache, and machine code for the driver's own. Run as `python -m syclade.host.device.engines.cuda`, with a
pickled kernel, its near arguments and registers, and the device on standard input, this module is such a
subprocess.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.machine_code import load_ptx, ptx_key
from syclade.host.device.compile.precompiled import PTX, is_shipped
from syclade.host.device.cuda import open_gpu
from syclade.host.device.device import Device, usable_cores
from syclade.host.device.engines import Allocation, Engine
from syclade.host.ground.cache import cache_problem, read_checked, write_checked
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import PROBLEM, SCRATCH, Argument
from syclade.kernels.target.cuda.traits import GRID_NEAR_BYTES, NEAR_BYTES, REGISTERS, THREADS, TRAITS

if TYPE_CHECKING:
    from cuda.bindings.driver import CUfunction, CUstream

    from syclade.host.device.cuda import Event

__all__ = [
    "SLOTS_OF_UNIT",
    "CudaEngine",
    "make_apart",
    "near_arguments",
    "near_forms",
    "registers_of",
    "slots_of_unit",
]

SLOTS_OF_UNIT, _MOST_SLOTS_OF_UNIT = 20, 24
"""Slots that share a multiprocessor: more warps hide the latency of its memory, and make launches longer."""

_NEAR_OF_UNIT = 168_000
"""Shared memory of these slots in bytes: the rest is the multiprocessor's cache."""

_REGISTERS_OF_UNIT = 65_536

_POLL_SECONDS = 2e-5
"""Time between two looks at launches of which any may end next, for each of them."""


def slots_of_unit(near_bytes: int) -> int:
    """Return how many slots share a multiprocessor, by the shared memory of each."""
    return _MOST_SLOTS_OF_UNIT if _MOST_SLOTS_OF_UNIT * near_bytes <= _NEAR_OF_UNIT else SLOTS_OF_UNIT


def registers_of(near_bytes: int) -> int:
    """Return the most registers of a thread, so that `slots_of_unit` fit; without shared memory, `REGISTERS`.

    A kernel with more registers takes less time for a step, but fewer steps are done at once.
    """
    if not near_bytes:
        return REGISTERS
    return _REGISTERS_OF_UNIT // (slots_of_unit(near_bytes) * TRAITS.lanes) // 8 * 8


def near_arguments(kernel: Kernel, sizes: Mapping[str, int]) -> tuple[list[Argument], int]:
    """Return the arguments whose parts of a slot fit into shared memory, the first ones first; and bytes.

    A general kernel has the first of `near_forms` that fits and is precompiled, otherwise the last.

    Args:
        kernel: a kernel whose slots share blocks.
        sizes: values of the symbols in the shapes of its arguments.
    """

    def bytes_of(arguments: Sequence[Argument]) -> int:
        """Return the bytes of a slot's parts of these arguments in shared memory."""
        return sum(_aligned(one.nbytes(sizes) // sizes["slots"]) for one in arguments)

    if kernel.reads_sizes:
        *forms, last = near_forms(kernel)
        for form in forms:
            if bytes_of(form) <= NEAR_BYTES and is_shipped(kernel, PTX, [one.name for one in form]):
                return form, bytes_of(form)
        return last, bytes_of(last)
    near: list[Argument] = []
    for one in kernel.arguments:
        if one.hot and kernel.lanes == TRAITS.lanes and bytes_of([*near, one]) <= NEAR_BYTES:
            near.append(one)
    return near, bytes_of(near)


def near_forms(kernel: Kernel) -> tuple[list[Argument], list[Argument]]:
    """Return the arguments that the two forms of a general kernel keep in shared memory.

    All hot ones, for small trees; or those whose part of a slot has the same size for all matrices.
    """
    hot = [one for one in kernel.arguments if one.hot]
    fixed = {"slots", "lanes"}
    return hot, [one for one in hot if fixed.issuperset(part for part in one.shape if isinstance(part, str))]


class Launch(NamedTuple):
    """Events around a launch on one slot."""

    begun: Event
    ended: Event


class Loaded(NamedTuple):
    """A kernel on the GPU.

    Attributes:
        function: the driver's handle.
        kernel: its description.
        lengths: elements of a slot's part of each argument, as far as the function takes them.
        shared_bytes: shared memory of a block.
    """

    function: CUfunction
    kernel: Kernel
    lengths: tuple[int, ...]
    shared_bytes: int


class CudaEngine(Engine):
    """Engine of one GPU. Launches on all slots use one stream, launches on single slots a stream each."""

    clock = "device"
    overlaps = True

    def __init__(self, device: Device, allocation: Allocation) -> None:
        super().__init__(device, allocation)
        self._gpu = open_gpu(device)
        self._addresses: dict[str, int] = {}
        self._here: dict[str, Array] = {}
        self._loaded: list[Loaded] = []
        self._stream = self._gpu.stream()
        self._streams: dict[int, CUstream] = {}
        self._ahead: dict[str, Future[CUfunction]] = {}
        self._compilers: list[subprocess.Popen[bytes]] = []
        self._wrote = False
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
            if "teams" in self.sizes and argument.role not in (PROBLEM, SCRATCH):
                self._allocate_here(argument)
                continue
            self._wrote = True
            address = self._gpu.allocate(argument.nbytes(self.sizes))
            self._addresses[argument.name] = address
            if contents is not None:
                self._gpu.copy_to(address, np.ascontiguousarray(contents, argument.dtype))

    def _allocate_here(self, argument: Argument) -> None:
        """Allocate an array of settings or states in memory of this machine.

        Kernels of grids use these once or twice in a launch. A copy to the GPU would wait for the launch of
        another slot, for as long as that takes: they share a queue of the hardware.
        """
        values = self._gpu.allocate_here(argument.nbytes(self.sizes))
        self._addresses[argument.name] = values.ctypes.data
        self._here[argument.name] = values.view(argument.dtype).reshape(self._shapes[argument.name])

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
        return self._addresses[name] + range(self.slots)[slot] * self._slot_bytes(argument), shape[1:]

    def _slot_bytes(self, argument: Argument) -> int:
        """Return the size of a slot's part in bytes."""
        return argument.nbytes(self.sizes) // self.slots

    def read(self, name: str, slot: int | None = None) -> Array:
        """See `Engine.read`."""
        if name in self._here:
            return np.array(self._here[name] if slot is None else self._here[name][slot])
        address, shape = self._place(name, slot)
        values: Array = np.empty(shape, dtype=self.arguments[name].dtype)
        self._gpu.copy_from(address, values)
        return values

    def write(self, name: str, values: ArrayLike, slot: int | None = None) -> None:
        """See `Engine.write`."""
        if name in self._here:
            self._here[name][... if slot is None else slot] = self.part_of(name, values, slot)
            return
        address, _ = self._place(name, slot)
        self._wrote = True
        self._gpu.copy_to(address, self.part_of(name, values, slot))

    def _finish_writes(self) -> None:
        """Let launches from now on find all that was written, and zeros elsewhere.

        A launch that begins before, as on a GPU that several programs use, loses what it has stored: a search
        then waits for ever, or uses wrong addresses.
        """
        if self._wrote:
            self._gpu.finish_writes()
            self._wrote = False

    def prepare(self, kernels: Sequence[Kernel]) -> None:
        """See `Engine.prepare`."""
        if kernels:
            pool = ThreadPoolExecutor(min(len(kernels), usable_cores()))
            self._ahead = {one.name: pool.submit(self._made_ahead, one) for one in kernels}
            pool.shutdown(wait=False)

    def _made_ahead(self, kernel: Kernel) -> CUfunction:
        process = make_apart(kernel, self._names_near(kernel), self._registers(kernel), self.device)
        if process is not None:
            self._compilers.append(process)
            process.wait()
        return self._function(kernel)

    def _function(self, kernel: Kernel) -> CUfunction:
        return self._gpu.function(
            *load_ptx(kernel, self._names_near(kernel)), registers=self._registers(kernel)
        )

    def _near(self, kernel: Kernel) -> list[Argument]:
        if kernel.group == "grid":
            return self._near_blocks(kernel)
        return near_arguments(kernel, self.sizes)[0]

    def _names_near(self, kernel: Kernel) -> list[str]:
        return [one.name for one in self._near(kernel)]

    def _registers(self, kernel: Kernel) -> int:
        return REGISTERS if kernel.group == "grid" else registers_of(near_arguments(kernel, self.sizes)[1])

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number.

        Raises:
            DeviceError: it cannot be compiled, or the driver refuses it.
        """
        grid = kernel.group == "grid"
        near = self._near(kernel)
        ahead = self._ahead.get(kernel.name)
        function = self._function(kernel) if ahead is None else ahead.result()
        if grid:
            blocks, parted = 1, [one for one in kernel.arguments if "teams" in one.shape]
        else:
            blocks, parted = (
                THREADS // kernel.lanes,
                [one for one in kernel.arguments if near and "slots" in one.shape],
            )
        lengths = [self._part_bytes(one) // np.dtype(one.dtype).itemsize for one in parted]
        room = sum(_aligned(self._part_bytes(one)) for one in near)
        self._loaded.append(Loaded(function, kernel, tuple(lengths), room * blocks))
        return len(self._loaded) - 1

    def _near_blocks(self, kernel: Kernel) -> list[Argument]:
        """Return the arguments whose parts of a block go to shared memory: all hot ones, or none.

        So there are two forms of each kernel, whatever the sizes.
        """
        near = [one for one in kernel.arguments if one.hot]
        return near if sum(_aligned(self._part_bytes(one)) for one in near) <= GRID_NEAR_BYTES else []

    def _part_bytes(self, argument: Argument) -> int:
        """Return the size of a slot's part of an argument, or of a block's if blocks have parts."""
        return self._slot_bytes(argument) // (self.sizes["teams"] if "teams" in argument.shape else 1)

    def launch(self, kernels: Sequence[int | None]) -> None:
        """See `Engine.launch`; each kernel runs on all slots, or, if a slot is many blocks, on its own."""
        tokens = []
        for slot, one in enumerate(kernels):
            if one is not None and self._loaded[one].kernel.group == "grid":
                tokens.append(self.start(one, slot))
        for token in tokens:
            self.wait(token)
        if tokens:
            return
        self._finish_writes()
        for number in dict.fromkeys(one for one in kernels if one is not None):
            addresses = [self._addresses[one.name] for one in self._loaded[number].kernel.arguments]
            self._submit(self._loaded[number], self.slots, addresses, self._stream)
        self._gpu.finish(self._stream)

    def _submit(self, loaded: Loaded, slots: int, addresses: Sequence[int], stream: CUstream) -> None:
        """Queue a launch."""
        if loaded.kernel.group == "grid":
            grid = slots, self.sizes["teams"]
            given = [slots, *loaded.lengths, *addresses]
            self._gpu.launch_grid(loaded.function, grid, given, stream, loaded.shared_bytes)
            return
        self._gpu.launch(
            loaded.function,
            slots * loaded.kernel.lanes,
            [slots, *loaded.lengths, *addresses],
            stream,
            shared_bytes=loaded.shared_bytes,
        )

    def start(self, kernel: int, slot: int, after: Sequence[Any] = ()) -> Any:
        """See `Engine.start`; the token is a `Launch`.

        The slot's parts of the arrays are those of slot 0 for the kernel.
        """
        loaded = self._loaded[kernel]
        self._finish_writes()
        if slot not in self._streams:
            self._streams[slot] = self._gpu.stream()
        stream = self._streams[slot]
        for earlier in after:
            self._gpu.wait_in(stream, earlier.ended)
        addresses = [
            self._place(one.name, slot if "slots" in one.shape else None)[0]
            for one in loaded.kernel.arguments
        ]
        begun = self._gpu.event(stream)
        self._submit(loaded, 1, addresses, stream)
        return Launch(begun, self._gpu.event(stream))

    def begin(self, kernel: int, slot: int) -> Launch:
        """See `Engine.begin`."""
        launch: Launch = self.start(kernel, slot)
        return launch

    def ended(self, tokens: Sequence[Launch]) -> list[int]:
        """See `Engine.ended`."""
        if len(tokens) == 1:
            self.wait(tokens[0])
            return [0]
        events = [one.ended for one in tokens]
        while not (found := self._gpu.reached(events)):
            time.sleep(_POLL_SECONDS * len(events))
        return found

    def wait(self, token: Any) -> None:
        """See `Engine.wait`."""
        self._gpu.wait(token.ended)

    def times(self, token: Any) -> tuple[int, int]:
        """See `Engine.times`; the clock starts when the engine opens."""
        begun, ended = (self._gpu.nanoseconds(self._origin, one) for one in token)
        return begun, ended

    def close(self) -> None:
        """See `Engine.close`; what is compiled ahead and not used is given up."""
        for future in self._ahead.values():
            future.cancel()
        for process in self._compilers:
            process.kill()
            process.wait()
        wait([one for one in self._ahead.values() if not one.cancelled()])
        self._ahead.clear()
        self._loaded.clear()
        with suppress(DeviceError):  # a GPU that has failed frees nothing
            for stream in (*self._streams.values(), self._stream):
                self._gpu.close_stream(stream)
            for name, address in self._addresses.items():
                if name in self._here:
                    self._gpu.free_here(address)
                else:
                    self._gpu.free(address)
        self._streams.clear()
        self._addresses.clear()
        self._here.clear()


def _aligned(size: int) -> int:
    """Return a number of bytes, rounded up to whole words of 8."""
    return (size + 7) // 8 * 8


def make_apart(
    kernel: Kernel, near: Collection[str], registers: int, gpu: Device
) -> subprocess.Popen[bytes] | None:
    """Start a subprocess that makes a kernel; None if that has been done, or could not be read here.

    Args:
        kernel, near: as for `load_ptx`.
        registers: most registers of a thread.
        gpu: the GPU that the kernel is for.
    """
    if cache_problem() is not None or read_checked(_mark(kernel, near, registers, gpu)) is not None:
        return None
    # The subprocess must be able to import the same modules: parts of a kernel may be a user's own.
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,  # Ctrl-C reaches only the run, which stops this process
    )
    assert process.stdin is not None
    with process.stdin as stream:
        stream.write(pickle.dumps((kernel, list(near), registers, gpu)))
    return process


def _mark(kernel: Kernel, near: Collection[str], registers: int, gpu: Device) -> str:
    """Return the name of the file in the cache that says that a driver has translated a kernel."""
    for_gpu = hashlib.sha256(f"{gpu.name} {gpu.driver} {registers}".encode()).hexdigest()[:8]
    return f"ptx/{ptx_key(kernel, near)}-{for_gpu}"


def _main() -> None:
    kernel, near, registers, gpu = pickle.load(sys.stdin.buffer)
    open_gpu(gpu).function(*load_ptx(kernel, near), registers=registers)
    write_checked(_mark(kernel, near, registers, gpu), b"translated")


if __name__ == "__main__":
    _main()
