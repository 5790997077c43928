"""Engines of this processor for the hidden Markov model of alignments: one for each width of the band."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.compile.kernel import Kernel, Record
from syclade.host.devices.device import native_device
from syclade.host.engines import Allocation, open_engine
from syclade.kernels.arguments import Argument
from syclade.kernels.baq.arguments import MEMBERS
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.target.native.traits import TRAITS

if TYPE_CHECKING:
    from syclade.host.engines import KernelEngine

__all__ = ["BANDS", "BandedEngines", "banded_kernel", "by_band", "filled"]

BANDS = (7, 127)
"""Largest half widths of the bands of the kernels: that of reads without long indels, and the widest one."""


class BandedEngines:
    """Engines with one slot, opened when a read first needs one, and again when a longer read comes.

    Args:
        arguments: the arguments of the kernel.
        strides: symbols of the sizes that the kernel needs.
        kernel_of: returns the kernel for bands up to a half width.
        tables: problem arrays besides `strides`.
    """

    def __init__(
        self,
        arguments: tuple[Argument, ...],
        strides: Sequence[str],
        kernel_of: Callable[[int], Kernel],
        tables: Mapping[str, NDArray[Any]],
    ) -> None:
        self._arguments, self._strides = arguments, strides
        self._kernel_of, self._tables = kernel_of, tables
        self._engines: dict[int, tuple[KernelEngine, int]] = {}

    def get(self, widest: int, needed: dict[str, int]) -> tuple[KernelEngine, int]:
        """Return an engine that is large enough, and its kernel.

        Args:
            widest: half width of the band.
            needed: sizes, by symbol.

        Raises:
            DeviceError: the kernel cannot be compiled, or there is not enough memory.
        """
        opened = self._engines.get(widest)
        if opened is not None and all(opened[0].sizes[name] >= size for name, size in needed.items()):
            return opened
        if opened is not None:
            needed = {name: max(size, opened[0].sizes[name]) for name, size in needed.items()}
            opened[0].close()
        sizes = {name: size + size // 4 for name, size in needed.items()}
        sizes |= scratch_sizes(widest, MEMBERS, sizes["query"], sizes["reference"]) | {"slots": 1}
        sizes["line_cells"] = (2 * widest + 3) * MEMBERS
        strides = np.array([sizes[name] for name in self._strides])
        allocation = Allocation(self._arguments, sizes, {"strides": strides, **self._tables})
        engine = open_engine(native_device(), allocation)
        self._engines[widest] = (engine, engine.load(self._kernel_of(widest)))
        return self._engines[widest]

    def close(self) -> None:
        """Free the memory."""
        for engine, _ in self._engines.values():
            engine.close()
        self._engines.clear()


def banded_kernel(name: str, factory: str, arguments: Record, size: str, widest: int) -> Kernel:
    """Return a kernel for bands up to a half width, for this processor.

    Args:
        name: its name without the width.
        factory: its factory in `kernels.baq`.
        arguments: its arguments.
        size: what it computes, for messages.
        widest: the half width.
    """
    return Kernel(
        name=f"{name}_{widest}",
        factory=f"syclade.kernels.baq.{factory}",
        parts={"reals": "syclade.kernels.target.native.reals:REALS"},
        constants={"band": widest},
        records=(arguments,),
        group="work-group",
        lanes=TRAITS.lanes,
        size=f"{size} (bands up to {widest})",
    )


def by_band(chosen: NDArray[np.bool_], band: NDArray[np.int64]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the chosen reads of each of `BANDS` that has some: (half width, numbers of the reads).

    Args:
        chosen: bool, (reads,).
        band: int64, (reads,): half widths; wider bands than the widest one are left out.
    """
    found, lowest = [], 0
    for widest in BANDS:
        reads = np.flatnonzero(chosen & (band >= lowest) & (band <= widest))
        if len(reads):
            found.append((widest, reads))
        lowest = widest + 1
    return found


def filled(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return values with zeros after them, up to a number of rows."""
    full = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    full[: len(values)] = values
    return full
