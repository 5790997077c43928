"""Kernels of this processor, called with arrays: for work on the host that Python would be too slow for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.kernels.arguments import Argument
from syclade.kernels.pileup.arguments import COLUMNS, GROWTH, RECORDS
from syclade.kernels.pileup.indel_arguments import INDEL_ARGUMENTS
from syclade.kernels.pileup.tag_arguments import STORED, TAG_ARGUMENTS
from syclade.kernels.target.native.traits import TRAITS

__all__ = ["HOST_KERNELS", "Compiled", "compiled"]


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


class Compiled:
    """A kernel of one slot, compiled for this processor.

    Args:
        kernel: the kernel.

    Raises:
        DeviceError: numba cannot compile the kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._arguments = kernel.arguments
        self._run = load_machine_code(kernel)

    def __call__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
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


def compiled(name: str) -> Compiled:
    """Return one of `HOST_KERNELS`, compiled.

    Raises:
        DeviceError: numba cannot compile the kernel.
    """
    return Compiled(HOST_KERNELS[name])
