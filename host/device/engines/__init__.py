"""Engines: named arrays for slots on one device, and launches of kernels on these slots.

An engine does not know what its kernels compute: chains and searches use the same ones.
"""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceMemoryError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.python import TRAITS as PYTHON
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

if TYPE_CHECKING:
    from syclade.host.device.compile.image import Image
    from syclade.host.device.engines.cuda import CudaEngine
    from syclade.host.device.engines.local import NativeEngine, PythonEngine
    from syclade.host.device.engines.sycl import SyclEngine

    KernelEngine: TypeAlias = CudaEngine | NativeEngine | PythonEngine | SyclEngine

__all__ = ["HUGE_PAGE", "Allocation", "Engine", "advise_huge_pages", "open_engine", "traits_of"]


class Allocation(NamedTuple):
    """Arrays that an engine allocates.

    Attributes:
        arguments: the arguments of its kernels; each gets an array.
        sizes: values of the symbols in their shapes, including `slots`.
        problem: contents of the arguments with role `problem`, by name, in their declared shapes; the other
            arrays start as zeros.
    """

    arguments: Sequence[Argument]
    sizes: Mapping[str, int]
    problem: Mapping[str, Array] = MappingProxyType({})


class Engine(ABC):
    """Arrays for a number of slots on one device, and launches of loaded kernels.

    The `load` of each kind of engine returns a number, by which the kernel is launched.

    Attributes:
        device: the device that executes launches, as its driver describes it.
        clock: clock of `times`: "device" or "host".
        overlaps: whether it has `begin` and `ended`: launches on single slots that run beside each other.
        arguments: the declarations of the arrays, by name.
        sizes: values of the symbols in their shapes.
        slots: number of slots.

    Args:
        device: the device to open.
        allocation: the arrays to allocate.

    Raises:
        DeviceError: the device does not open, or there is not enough memory.
        ValueError: an array of the problem is missing, or its shape differs from the declared one.
    """

    clock: str
    overlaps = False

    def __init__(self, device: Device, allocation: Allocation) -> None:
        self.device = device
        self.arguments = {argument.name: argument for argument in allocation.arguments}
        self.sizes = dict(allocation.sizes)
        self.slots = self.sizes["slots"]
        self._shapes = {name: one.dimensions(self.sizes) for name, one in self.arguments.items()}

    def _require_own_memory(self) -> None:
        """Check that this process has the memory of all arrays.

        Raises:
            DeviceMemoryError: it has not.
        """
        what, hint = f"{self.slots} slots on {self.device.name}", f"use fewer {flag_of('slots')}"
        require_memory(self._bytes_of_arrays(), what, hint, DeviceMemoryError)

    def _contents(self, problem: Mapping[str, Array]) -> Iterator[tuple[Argument, Array | None]]:
        """Yield each argument with the contents of its array; None for zeros.

        Args:
            problem: as in `Allocation`.

        Raises:
            ValueError: an array of `problem` is missing, or its shape differs from the declared one.
        """
        for argument in self.arguments.values():
            contents = problem.get(argument.name) if argument.role == PROBLEM else None
            shape = self._shapes[argument.name]
            if argument.role == PROBLEM and (contents is None or contents.shape != shape):
                found = "missing" if contents is None else f"of shape {contents.shape}"
                raise ValueError(f"{argument.name} is {found}, and should be {shape}")
            yield argument, contents

    def __contains__(self, name: str) -> bool:
        return name in self.arguments

    @property
    def memory_bytes(self) -> int:
        """Memory of all arrays, in bytes."""
        return self._bytes_of_arrays()

    def _bytes_of_arrays(self) -> int:
        return sum(argument.nbytes(self.sizes) for argument in self.arguments.values())

    @abstractmethod
    def read(self, name: str, slot: int | None = None) -> Array:
        """Return a copy of an array in its declared shape and dtype, or of one slot's part of it."""

    @abstractmethod
    def write(self, name: str, values: ArrayLike, slot: int | None = None) -> None:
        """Write an array, or one slot's part of it."""

    def get(self, slot: int, names: Iterable[str]) -> dict[str, Array]:
        """Return copies of a slot's part of several arrays, by name."""
        return {name: self.read(name, slot) for name in names}

    def put(self, slot: int, fields: Mapping[str, ArrayLike]) -> None:
        """Write a slot's part of several arrays, given by name."""
        for name, values in fields.items():
            self.write(name, values, slot)

    def prepare(self, kernels: Sequence[Kernel]) -> None:  # noqa: B027
        """Begin to translate kernels that will be loaded later, where other processes can do that.

        Args:
            kernels: the kernels in the order of their first use.
        """

    @abstractmethod
    def launch(self, kernels: Sequence[int | None]) -> None:
        """Run one kernel per slot, or none, and wait for all of them.

        A device may run each kernel on all slots at once. So if there are different ones, each must leave
        alone the slots of the others.

        Args:
            kernels: one per slot; None to do nothing.
        """

    @abstractmethod
    def start(self, kernel: int, slot: int, after: Sequence[Any] = ()) -> Any:
        """Start a kernel on one slot, to begin when other launches have ended; return its token.

        Return without waiting, if the device allows it.

        Args:
            kernel: the kernel.
            slot: its slot.
            after: tokens of the launches that must end first.
        """

    def begin(self, kernel: int, slot: int) -> Any:
        """Begin a kernel on a slot, beside launches on other slots; return a token for `ended`."""
        raise NotImplementedError

    def ended(self, tokens: Sequence[Any]) -> list[int]:
        """Wait until at least one launch by `begin` has ended; return the indices of all that have.

        Args:
            tokens: tokens of launches, also of another engine of the same kind; at least one.
        """
        raise NotImplementedError

    @abstractmethod
    def wait(self, token: Any) -> None:
        """Wait until a launch by `start` has ended."""

    @abstractmethod
    def times(self, token: Any) -> tuple[int, int]:
        """Return when a finished launch by `start` began and ended, in ns of `clock`."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory and forget the kernels."""

    def part_of(self, name: str, values: ArrayLike, slot: int | None) -> Array:
        """Return values in the dtype and shape of an array, or of one slot's part of it."""
        shape = self._shapes[name]
        given = np.asarray(values, dtype=self.arguments[name].dtype)
        return np.ascontiguousarray(given).reshape(shape if slot is None else shape[1:])


HUGE_PAGE = 2**21
"""Bytes of a huge page of x86-64 and of most other Linux systems."""

_MADV_HUGEPAGE = 14


def advise_huge_pages(address: int, size: int) -> bool:
    """Advise Linux to use huge pages for memory that was not touched yet; return whether it takes the advice.

    Args:
        address: address of the memory.
        size: its bytes; only whole huge pages within it are meant.
    """
    if not sys.platform.startswith("linux"):
        return False
    first = -(-address // HUGE_PAGE) * HUGE_PAGE
    last = (address + size) // HUGE_PAGE * HUGE_PAGE
    if first >= last:
        return False
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return bool(madvise(first, last - first, _MADV_HUGEPAGE) == 0)


def open_engine(
    device: Device,
    allocation: Allocation,
    *,
    images: Mapping[str, Image] = MappingProxyType({}),
    timed: bool = False,
) -> KernelEngine:
    """Open an engine that runs kernels on a device; for code in numpy, use a `NumpyEngine`.

    Args:
        device: a usable device, except `numpy`.
        allocation: the arrays to allocate.
        images: precompiled kernels for this device, by name; the engine loads them instead of compiling.
        timed: whether the device shall measure the times of launches (`Engine.times`).

    Raises:
        DeviceError: the device does not open, or has too little memory.
    """
    if device.kind == "native":
        from syclade.host.device.engines.local import NativeEngine

        return NativeEngine(device, allocation)
    if device.kind == "python":
        from syclade.host.device.engines.local import PythonEngine

        return PythonEngine(device, allocation)
    if device.kind == "cuda":
        from syclade.host.device.engines.cuda import CudaEngine

        return CudaEngine(device, allocation)
    from syclade.host.device.engines.sycl import SyclEngine

    return SyclEngine(device, allocation, images=images, timed=timed)


_NUMPY = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)

_TRAITS = {"cuda": CUDA, "native": NATIVE, "python": PYTHON, "numpy": _NUMPY}


def traits_of(device: Device) -> Traits:
    """Return the traits of a device's target. The numpy fallback has one lane, so it needs no padding."""
    return _TRAITS.get(device.kind, SYCL)
