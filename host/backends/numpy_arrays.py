"""Kernel arguments in numpy arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.arrays import Arrays
from syclade.kernels.arguments import Argument

__all__ = ["NumpyArrays"]

LINE = 64
"""Bytes of a cache line, and of the widest vectors."""


class NumpyArrays(Arrays):
    """Memory of this process; see `Arrays`.

    Attributes:
        named: the arrays by argument name. A runner may replace them by others.
    """

    named: dict[str, NDArray[Any]]

    def _allocate(self, argument: Argument, shape: tuple[int, ...], contents: NDArray[Any] | None) -> None:
        if not hasattr(self, "named"):
            self.named = {}
        array = _aligned_zeros(shape, np.dtype(argument.dtype))
        if contents is not None:
            array[...] = contents
        self.named[argument.name] = array

    def read(self, name: str, slot: int | None = None) -> NDArray[Any]:
        """See `Arrays.read`."""
        array = self.named[name]
        return np.array(array if slot is None else array[slot])

    def write(self, name: str, values: Any, slot: int | None = None) -> None:
        """See `Arrays.write`."""
        self.named[name][... if slot is None else slot] = self.part_of(name, values, slot)

    def close(self) -> None:
        """See `Arrays.close`."""
        self.named.clear()


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that start at a cache line, so that no row of a table touches an additional line."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + LINE, dtype=np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size].view(dtype).reshape(shape)
