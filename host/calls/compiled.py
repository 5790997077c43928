"""Kernels of this processor, called with arrays: for work on the host that Python would be too slow for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.compile.kernel import Kernel, Record
from syclade.host.compile.machine_code import load_machine_code
from syclade.kernels.arguments import Argument
from syclade.kernels.pileup.arguments import COLUMNS, GROWTH, RECORDS
from syclade.kernels.target.native.traits import TRAITS

__all__ = ["Compiled", "compiled_columns", "compiled_growth", "compiled_records"]


class Compiled:
    """A kernel of one slot, compiled for this processor.

    Args:
        name: name of the kernel.
        factory: `module:function` that makes it.
        arguments: its arguments.

    Raises:
        DeviceError: numba cannot compile the kernel.
    """

    def __init__(self, name: str, factory: str, arguments: tuple[Argument, ...]) -> None:
        record = Record(name.capitalize(), arguments)
        kernel = Kernel(name, factory, {}, {}, (record,), "work-group", TRAITS.lanes, size=f"reads ({name})")
        self._arguments = arguments
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


def compiled_records() -> Compiled:
    """Return the kernel that takes reads from raw records."""
    return Compiled("records", "syclade.kernels.pileup.records:make_records", RECORDS)


def compiled_columns() -> Compiled:
    """Return the kernel that counts bases by column."""
    return Compiled("columns", "syclade.kernels.pileup.columns:make_columns", COLUMNS)


def compiled_growth() -> Compiled:
    """Return the kernel that copies a table of counts into a larger one."""
    return Compiled("growth", "syclade.kernels.pileup.growth:make_growth", GROWTH)
