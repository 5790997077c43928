"""NVIDIA GPUs through the CUDA driver: list, context, memory, kernels, streams and events.

The package `cuda-bindings` calls the driver; no CUDA toolkit is needed. A GPU is requested only when a run or
`syclade devices` wants one.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import cuda_hint, version_of
from syclade.host.ground.values import Array
from syclade.kernels.target.cuda.traits import CAPABILITY, GRID_THREADS, THREADS

if TYPE_CHECKING:
    from cuda.bindings.driver import CUcontext, CUevent, CUfunction, CUstream

__all__ = ["Event", "Gpu", "cuda_devices", "listed_gpus", "open_gpu", "seems_present", "seems_usable"]

_PACKAGE = "cuda-bindings"
_DRIVER_FILE = Path("/proc/driver/nvidia/version")
_LOG_BYTES = 4096

_CONNECTIONS = ("CUDA_DEVICE_MAX_CONNECTIONS", "32")
"""A variable that the driver reads when it starts: how many streams run at once. It takes 8 without."""

_FETCHED_BYTES = 128
"""Size of what the second cache fetches from memory at once, at its largest: kernels read whole rows."""


def listed_gpus() -> list[Device]:
    """Return the same as `cuda_devices` for lists of devices: empty without both driver and package."""
    return cuda_devices() if seems_present() else []


def seems_present() -> bool:
    """Return whether there are signs of a GPU or of the wish for one: its driver, or the package."""
    return _DRIVER_FILE.exists() or version_of(_PACKAGE) is not None


def seems_usable() -> bool:
    """Return whether a driver of GPUs and the package that calls it are there."""
    return _DRIVER_FILE.exists() and version_of(_PACKAGE) is not None


def cuda_devices() -> list[Device]:
    """Return all NVIDIA GPUs, usable or not; one that says why if there is none."""
    try:
        driver = _driver()
        count = int(_checked(driver.cuDeviceGetCount()))
    except DeviceError as error:
        return [_absent(error.message)]
    if not count:
        return [_absent("the NVIDIA driver lists no GPU (CUDA_VISIBLE_DEVICES may hide them)")]
    return [_described(driver, number) for number in range(count)]


def _absent(reason: str) -> Device:
    return Device("cuda", "NVIDIA GPU", "cuda", 1, reason)


def _described(driver: ModuleType, number: int) -> Device:
    attribute = driver.CUdevice_attribute
    device = _checked(driver.cuDeviceGet(number))
    name = _checked(driver.cuDeviceGetName(256, device)).split(b"\0")[0].decode(errors="replace")
    capability = tuple(
        int(_checked(driver.cuDeviceGetAttribute(one, device)))
        for one in (
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    units = int(
        _checked(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device))
    )
    reason = None
    if capability < CAPABILITY:
        reason = "its compute capability is {}.{}; the kernels need {}.{}".format(*capability, *CAPABILITY)
    version = int(_checked(driver.cuDriverGetVersion()))
    return Device(
        f"cuda:{number}", name, "cuda", units, reason, f"CUDA {version // 1000}.{version % 1000 // 10}"
    )


@cache
def _driver() -> ModuleType:
    """Return the driver's functions, once the driver is initialised.

    Raises:
        DeviceError: the package or the driver is missing, or the driver does not start.
    """
    try:
        from cuda.bindings import driver
    except Exception as error:  # a shared library may be missing, or damaged
        if version_of(_PACKAGE) is None:
            words = f"{_PACKAGE} is not installed: {cuda_hint()}"
        else:
            words = f"{_PACKAGE} does not import: {error}"
        raise DeviceError(words) from error
    os.environ.setdefault(*_CONNECTIONS)
    try:
        status = driver.cuInit(0)
    except Exception as error:  # the package loads the driver's library here
        raise DeviceError("there is no NVIDIA driver: libcuda does not load") from error
    _checked(status)
    module: ModuleType = driver
    return module


def _checked(result: tuple[Any, ...]) -> Any:
    """Return what a function of the driver returns besides its status: nothing, a value, or several.

    Raises:
        DeviceMemoryError: the GPU has too little memory.
        DeviceError: the function failed.
    """
    status, *values = result
    if int(status):
        from cuda.bindings import driver

        name, text = driver.cuGetErrorName(status)[1], driver.cuGetErrorString(status)[1]
        words = f"{name.decode()}: {text.decode()}" if name and text else f"error {int(status)}"
        if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise DeviceMemoryError(f"the GPU reports {words}", hint=f"use fewer {flag_of('slots')}")
        raise DeviceError(f"the GPU reports {words}", hint=f"{flag_of('device')} cpu works without a GPU")
    return values[0] if len(values) == 1 else tuple(values)


class Event:
    """A point in a stream of a GPU, which is reached once all earlier work in the stream has ended."""

    def __init__(self, gpu: Gpu, handle: CUevent) -> None:
        self.gpu = gpu
        self.handle = handle

    def __del__(self) -> None:
        """Free it; the driver keeps it until the stream has passed it."""
        with suppress(Exception):  # at the end of the process the driver may be gone
            self.gpu.free_event(self.handle)


class Gpu:
    """An opened GPU: its primary context, which all engines of this process share.

    The methods raise DeviceError if the driver reports a failure, and in a process that was forked after the
    context was made.

    Attributes:
        device: the description.
    """

    def __init__(self, device: Device, number: int) -> None:
        self.device = device
        self._driver = _driver()
        self._process = os.getpid()
        self._functions: dict[tuple[str, int], Future[CUfunction]] = {}
        self._loading = threading.Lock()
        self._shared_bytes: dict[int, int] = {}
        handle = _checked(self._driver.cuDeviceGet(number))
        self._context: CUcontext = _checked(self._driver.cuDevicePrimaryCtxRetain(handle))
        fetched = self._driver.CUlimit.CU_LIMIT_MAX_L2_FETCH_GRANULARITY
        self._entered().cuCtxSetLimit(fetched, _FETCHED_BYTES)  # a hint, which a GPU may refuse

    def _entered(self) -> ModuleType:
        """Make the context that of this thread; return the driver's functions."""
        if os.getpid() != self._process:
            raise DeviceError(
                "a forked process cannot use the GPU of its parent",
                hint="start processes by spawn: multiprocessing.get_context('spawn')",
            )
        _checked(self._driver.cuCtxSetCurrent(self._context))
        return self._driver

    def free_bytes(self) -> int:
        """Return the free memory in bytes."""
        free, _ = _checked(self._entered().cuMemGetInfo())
        return int(free)

    def allocate(self, size: int) -> int:
        """Return the address of zeros of this many bytes, once `finish_writes` has been called."""
        driver = self._entered()
        address = int(_checked(driver.cuMemAlloc(max(size, 1))))
        _checked(driver.cuMemsetD8(address, 0, max(size, 1)))
        return address

    def free(self, address: int) -> None:
        """Free memory that `allocate` returned."""
        _checked(self._entered().cuMemFree(address))

    def allocate_here(self, size: int) -> Array:
        """Return zeros of this many bytes in memory of this machine; the GPU uses the same address."""
        driver = self._entered()
        address = int(_checked(driver.cuMemHostAlloc(max(size, 1), driver.CU_MEMHOSTALLOC_DEVICEMAP)))
        bytes_there = (ctypes.c_uint8 * max(size, 1)).from_address(address)
        values: Array = np.frombuffer(memoryview(bytes_there), dtype=np.uint8)
        values[:] = 0
        return values

    def free_here(self, address: int) -> None:
        """Free memory that `allocate_here` returned."""
        _checked(self._entered().cuMemFreeHost(address))

    def copy_to(self, address: int, values: Array) -> None:
        """Copy a contiguous array to the GPU; it is there once `finish_writes` has been called."""
        if values.nbytes:
            _checked(self._entered().cuMemcpyHtoD(address, values.ctypes.data, values.nbytes))

    def finish_writes(self) -> None:
        """Wait until all zeros of `allocate` and all values of `copy_to` are there.

        Both may return before, and the driver lets work in streams of `stream` pass.
        """
        driver = self._entered()
        _checked(driver.cuStreamSynchronize(driver.CUstream(0)))

    def copy_from(self, address: int, values: Array) -> None:
        """Fill a contiguous array from the GPU."""
        if values.nbytes:
            _checked(self._entered().cuMemcpyDtoH(values.ctypes.data, address, values.nbytes))

    def function(self, key: str, name: str, ptx: bytes, registers: int) -> CUfunction:
        """Return a kernel, translated by the driver once per process (and cached by it on disk).

        Threads may translate several at once.

        Args:
            key: what determines the code.
            name: the entry point.
            ptx: its PTX.
            registers: most registers of a thread.
        """
        made = (key, registers)
        with self._loading:
            found = self._functions.get(made)
            mine = self._functions.setdefault(made, Future())
        if found is None:
            try:
                mine.set_result(self._loaded(name, ptx, registers))
            except BaseException as error:
                del self._functions[made]
                mine.set_exception(error)
        return mine.result()

    def _loaded(self, name: str, ptx: bytes, registers: int) -> CUfunction:
        driver = self._entered()
        option = driver.CUjit_option
        log = bytes(_LOG_BYTES)  # cuda-bindings lets the driver write into it
        options = [
            option.CU_JIT_ERROR_LOG_BUFFER,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            option.CU_JIT_MAX_REGISTERS,
        ]
        try:
            module = _checked(
                driver.cuModuleLoadDataEx(ptx + b"\0", len(options), options, [log, _LOG_BYTES, registers])
            )
            found: CUfunction = _checked(driver.cuModuleGetFunction(module, name.encode()))
        except DeviceError as error:
            text = log.split(b"\0")[0].decode(errors="replace").strip()
            raise DeviceError(
                f"{self.device.name} cannot build the kernel {name}: {error.message}"
                + (f": {text}" if text else ""),
                hint="the NVIDIA driver may be older than the kernels: update it",
            ) from error
        return found

    def stream(self) -> CUstream:
        """Return a new stream that does not wait for others."""
        driver = self._entered()
        stream: CUstream = _checked(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        return stream

    def close_stream(self, stream: CUstream) -> None:
        """Free a stream once its work has ended."""
        _checked(self._entered().cuStreamDestroy(stream))

    def finish(self, stream: CUstream) -> None:
        """Wait for all work in a stream."""
        _checked(self._entered().cuStreamSynchronize(stream))

    def event(self, stream: CUstream) -> Event:
        """Return an event of the end of the work in a stream so far."""
        driver = self._entered()
        event = Event(self, _checked(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT)))
        _checked(driver.cuEventRecord(event.handle, stream))
        return event

    def free_event(self, handle: CUevent) -> None:
        """Free an event."""
        _checked(self._entered().cuEventDestroy(handle))

    def wait_in(self, stream: CUstream, event: Event) -> None:
        """Let later work in a stream begin after an event."""
        _checked(self._entered().cuStreamWaitEvent(stream, event.handle, 0))

    def wait(self, event: Event) -> None:
        """Wait for an event."""
        _checked(self._entered().cuEventSynchronize(event.handle))

    def reached(self, events: Sequence[Event]) -> list[int]:
        """Return the indices of the events that have been reached."""
        driver, found = self._entered(), []
        not_yet = driver.CUresult.CUDA_ERROR_NOT_READY
        for at, one in enumerate(events):
            status = driver.cuEventQuery(one.handle)
            if status[0] != not_yet:
                _checked(status)
                found.append(at)
        return found

    def nanoseconds(self, first: Event, second: Event) -> int:
        """Return the time between two events, in ns."""
        milliseconds = float(_checked(self._entered().cuEventElapsedTime(first.handle, second.handle)))
        return round(milliseconds * 1e6)

    def launch(
        self,
        function: CUfunction,
        threads: int,
        arguments: Sequence[int],
        stream: CUstream,
        shared_bytes: int = 0,
    ) -> None:
        """Launch a kernel in blocks of THREADS threads.

        Args:
            function: the kernel.
            threads: number of threads, rounded up to whole blocks.
            arguments: its arguments: numbers of 64 bits, and addresses.
            stream: where the launch is queued.
            shared_bytes: shared memory of a block.
        """
        _, pointers = held = _by_address(arguments)
        blocks = -(-threads // THREADS)
        _checked(
            self._entered().cuLaunchKernel(
                function, blocks, 1, 1, THREADS, 1, 1, shared_bytes, stream, pointers.ctypes.data, 0
            )
        )
        del held

    def launch_grid(
        self,
        function: CUfunction,
        grid: tuple[int, int],
        arguments: Sequence[int],
        stream: CUstream,
        shared_bytes: int,
    ) -> None:
        """Launch a kernel whose blocks, of GRID_THREADS threads, all run at once.

        Args:
            function: the kernel.
            grid: number of slots, and of blocks per slot.
            arguments, stream, shared_bytes: as for `launch`.
        """
        _, pointers = held = _by_address(arguments)
        driver = self._entered()
        if self._shared_bytes.get(int(function), 0) < shared_bytes:
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _checked(driver.cuFuncSetAttribute(function, most, shared_bytes))
            self._shared_bytes[int(function)] = shared_bytes
        _checked(
            driver.cuLaunchCooperativeKernel(
                function, *grid, 1, GRID_THREADS, 1, 1, shared_bytes, stream, pointers.ctypes.data
            )
        )
        del held


def _by_address(arguments: Sequence[int]) -> tuple[Array, Array]:
    """Return the arguments of a launch, and their addresses, which are valid as long as both are kept."""
    values = np.array(arguments, dtype=np.uint64)
    return values, values.ctypes.data + 8 * np.arange(len(values), dtype=np.uint64)


_opened: dict[str, Gpu] = {}
_opening = threading.Lock()


def open_gpu(device: Device) -> Gpu:
    """Open a GPU; the same one for all engines of this process.

    Args:
        device: one that `cuda_devices` lists as usable.

    Raises:
        DeviceError: it does not open.
    """
    with _opening:
        if device.filter not in _opened:
            _opened[device.filter] = Gpu(device, int(device.filter.partition(":")[2] or 0))
        return _opened[device.filter]
