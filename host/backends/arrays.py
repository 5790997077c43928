"""Arguments of a kernel in a device's memory: allocated by their declarations, read and written by name.

This module does not depend on what the kernel computes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.arguments import PROBLEM, Argument

__all__ = ["Arrays"]


class Arrays(ABC):
    """Arrays of kernel arguments, for a number of slots.

    Args:
        arguments: the arguments to allocate; those of other roles than `problem` start as zeros.
        sizes: values of the symbols in the shapes, including `slots`.
        problem: contents of the arguments with role `problem`, by name, in their declared shapes.

    Raises:
        DeviceError: there is not enough memory.
        ValueError: an array of `problem` is missing, or its shape differs from the declared one.
    """

    def __init__(
        self, arguments: Sequence[Argument], sizes: Mapping[str, int], problem: Mapping[str, NDArray[Any]]
    ) -> None:
        self.arguments = {argument.name: argument for argument in arguments}
        self.sizes = dict(sizes)
        self.slots = self.sizes["slots"]
        for argument in arguments:
            shape = argument.dimensions(self.sizes)
            contents = None
            if argument.role == PROBLEM:
                contents = problem.get(argument.name)
                if contents is None or contents.shape != shape:
                    found = "missing" if contents is None else f"of shape {contents.shape}"
                    raise ValueError(f"{argument.name} is {found}, and should be {shape}")
            self._allocate(argument, shape, contents)

    def __contains__(self, name: str) -> bool:
        return name in self.arguments

    @property
    def memory_bytes(self) -> int:
        """Memory of all arrays, in bytes."""
        return sum(argument.nbytes(self.sizes) for argument in self.arguments.values())

    @abstractmethod
    def _allocate(self, argument: Argument, shape: tuple[int, ...], contents: NDArray[Any] | None) -> None:
        """Allocate an array; fill it with zeros unless contents are given."""

    @abstractmethod
    def read(self, name: str, slot: int | None = None) -> NDArray[Any]:
        """Return a copy of an array in its declared shape and dtype, or of one slot's part of it."""

    @abstractmethod
    def write(self, name: str, values: Any, slot: int | None = None) -> None:
        """Write an array, or one slot's part of it."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory."""

    def part_of(self, name: str, values: Any, slot: int | None) -> NDArray[Any]:
        """Return values in the dtype and shape of an array, or of one slot's part of it."""
        argument = self.arguments[name]
        shape = argument.dimensions(self.sizes)
        given = np.asarray(values, dtype=argument.dtype)
        return np.ascontiguousarray(given).reshape(shape if slot is None else shape[1:])
