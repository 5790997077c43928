"""Kernels of calling that run on this processor, called with arrays, and the place of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.device.choice import choose_device
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.device.device import Device, native_device
from syclade.host.ground.errors import DeviceError, ReadsError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.pileup.arguments import COLUMNS, GROWTH, RECORDS
from syclade.kernels.pileup.indel_arguments import INDEL_ARGUMENTS
from syclade.kernels.pileup.tag_arguments import STORED, TAG_ARGUMENTS
from syclade.kernels.target.native.traits import TRAITS

__all__ = [
    "HOST_KERNELS",
    "HostKernel",
    "Place",
    "grow_table",
    "here",
    "load_host_kernel",
    "place_of",
]


def _kernel(name: str, arguments: tuple[Argument, ...]) -> Kernel:
    """Return the kernel that `make_<name>` in `kernels/pileup/<name>.py` makes."""
    factory, record = f"syclade.kernels.pileup.{name}:make_{name}", Record(name.capitalize(), arguments)
    return Kernel(name, factory, {}, {}, (record,), "work-group", TRAITS.lanes, size=f"reads ({name})")


_ARGUMENTS = {
    "records": RECORDS,
    "columns": COLUMNS,
    "growth": GROWTH,
    "tags": TAG_ARGUMENTS,
    "stored": STORED,
    "indels": INDEL_ARGUMENTS,
}

HOST_KERNELS = {name: _kernel(name, arguments) for name, arguments in _ARGUMENTS.items()}
"""Kernels of one slot, by name: they take reads from raw records, count bases by column, copy a table of
counts into a larger one, find tags, take stored base alignment qualities, and count indels by column."""


class HostKernel:
    """A kernel of one slot, compiled for this processor.

    Args:
        kernel: the kernel.

    Raises:
        DeviceError: numba cannot compile the kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._arguments = kernel.arguments
        self._run = load_machine_code(kernel)

    def __call__(self, arrays: Mapping[str, Array]) -> None:
        """Run the kernel, without Python's global interpreter lock.

        Args:
            arrays: contiguous arrays of the declared types, by the arguments' names.

        Raises:
            ValueError: an array is not contiguous, or of another type.
        """
        given = [arrays[argument.name] for argument in self._arguments]
        for argument, array in zip(self._arguments, given, strict=True):
            if array.dtype != np.dtype(argument.dtype) or not array.flags.c_contiguous:
                raise ValueError(f"{argument.name} is {array.dtype}, or not contiguous")
        self._run(0, 1, *[array.ctypes.data for array in given])


def load_host_kernel(name: str) -> HostKernel:
    """Return one of `HOST_KERNELS`, compiled.

    Raises:
        DeviceError: numba cannot compile the kernel.
    """
    return HostKernel(HOST_KERNELS[name])


_LAST_STRIDE = 1 << 17


def grow_table(table: NDArray[np.uint32], begin: int) -> NDArray[np.uint32]:
    """Return a table with the same keys and counts, and twice the space.

    Args:
        table: uint32, (columns, space for keys, 2): keys plus 1, and counts.
        begin: position of the first column, from 0, for messages.

    Raises:
        ReadsError: a column has more different keys than a table may hold.
    """
    columns, stride, _ = table.shape
    if 2 * stride > _LAST_STRIDE:
        raise ReadsError(f"a column after position {begin} has more than {_LAST_STRIDE} different qualities")
    larger = np.zeros((columns, 2 * stride, 2), dtype=np.uint32)
    load_host_kernel("growth")(
        {
            "columns": np.array([columns]),
            "old_stride": np.array([stride]),
            "stride": np.array([2 * stride]),
            "old": table,
            "table": larger,
        }
    )
    return larger


_SLOTS_A_UNIT = 16
"""Slots of a multiprocessor of a GPU: each is a quarter of a warp."""


@dataclass(frozen=True)
class Place:
    """A device, and how threads use it.

    Attributes:
        device: the device of alignment qualities and tests.
        slots: into how many parts, at most, a thread divides its reads, which the device computes at the same
            time.
        threads: number of threads that share the device, and its memory.
    """

    device: Device
    slots: int = 1
    threads: int = 1


def here() -> Place:
    """Return this processor, where each thread computes its own reads."""
    return Place(native_device())


def place_of(wanted: str, threads: int) -> Place:
    """Return the place that was requested; the records do not depend on it.

    Args:
        wanted: as for `choose_device`; `auto` is this processor, which takes reads apart and counts in any
            case.
        threads: number of threads, which share the device.

    Raises:
        DeviceError: the device cannot be used.
    """
    if wanted == "auto":
        return here()
    device = choose_device(wanted)
    if device.kind == "fpga":
        raise DeviceError(
            f"{device.name} runs images only, and there is none of the kernels of calling",
            hint=f"{flag_of('device', 'fpga-emu')} runs them as an FPGA would",
        )
    if device.kind == "cuda":
        return Place(device, -(-device.units * _SLOTS_A_UNIT // threads), threads)
    return Place(device, -(-device.units // threads) if device.takes_spirv else 1, threads)
