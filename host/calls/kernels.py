"""Kernels of calling: those of this processor, called with arrays, and those of alignments on a device.

An alignment's hidden Markov model has an engine for each width of its band.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.device.choice import choose_device
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.device.engines import Allocation, open_engine
from syclade.host.device.engines.local import NumpyCode, NumpyEngine
from syclade.host.device.work import GENERAL, WorkDone
from syclade.host.ground.errors import DeviceError, ReadsError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.baq.arguments import MEMBERS
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.pileup.arguments import COLUMNS, GROWTH, RECORDS
from syclade.kernels.pileup.indel_arguments import INDEL_ARGUMENTS
from syclade.kernels.pileup.tag_arguments import STORED, TAG_ARGUMENTS
from syclade.kernels.target.native.traits import TRAITS
from syclade.kernels.target.native.traits import TRAITS as NATIVE

if TYPE_CHECKING:
    from syclade.host.device.engines import KernelEngine

__all__ = [
    "BANDS",
    "HOST_KERNELS",
    "Banded",
    "BandedEngines",
    "HostKernel",
    "Place",
    "banded_kernel",
    "by_band",
    "filled",
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


@dataclass(frozen=True)
class Place:
    """A device, and how a thread uses it.

    Attributes:
        device: the device of alignment qualities and tests.
        slots: how many parts each thread divides its reads into, which the device computes at the same time.
    """

    device: Device
    slots: int = 1


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
        raise DeviceError(
            f"the kernels of calling do not run on NVIDIA GPUs ({device.name})",
            hint=f"leave out {flag_of('device')}: this processor is as fast as its cores allow",
        )
    return Place(device, -(-device.units // threads) if device.takes_spirv else 1)


BANDS = (7, 127)
"""Largest half widths of the bands of the kernels: that of reads without long indels, and the widest one."""

_SHARED = ("letters", "positions", "gaps", "gap_cells")
"""Sizes of arrays that all slots read and write: a slot's part of them begins at 0. Each slot has blocks of
its own."""

_REALS = {
    "native": ("syclade.kernels.target.native.reals:REALS", NATIVE.lanes),
    "python": ("syclade.kernels.target.python_reals:REALS", 1),
}
"""The `Reals` of devices with several reads a lane, and their lanes; the others have one read a lane."""

_ONE_READ = ("syclade.kernels.target.reals:PLAIN", MEMBERS)


@dataclass(frozen=True)
class Banded:
    """Computation on reads in bands: a kernel, and the same in numpy.

    Attributes:
        name: name of the kernel without the width.
        factory: its factory in `kernels.baq`.
        record: its arguments.
        strides: symbols of the sizes that it needs.
        title: what it computes, for messages.
        unit: unit of its work.
        numpy: the code of the device numpy.
    """

    name: str
    factory: str
    record: Record
    strides: Sequence[str]
    title: str
    unit: str
    numpy: NumpyCode


def banded_kernel(banded: Banded, widest: int, kind: str = "native") -> Kernel:
    """Return the kernel for bands up to a half width.

    Args:
        banded: what it computes.
        widest: the half width.
        kind: kind of the device.
    """
    reals, lanes = _REALS.get(kind, _ONE_READ)
    return Kernel(
        name=f"{banded.name}_{widest}",
        factory=f"syclade.kernels.baq.{banded.factory}",
        parts={"reals": reals},
        constants={"band": widest},
        records=(banded.record,),
        group="work-group" if kind in _REALS else "sub-group",
        lanes=lanes,
        size=f"{banded.title} (bands up to {widest})",
    )


class BandedEngines:
    """Engines that are opened when a read first needs one, and again when a longer read comes.

    Args:
        banded: what they compute.
        tables: problem arrays besides `strides`.
        place: where; None: here.
    """

    def __init__(self, banded: Banded, tables: Mapping[str, Array], place: Place | None = None) -> None:
        self._banded, self._tables, self._place = banded, tables, place or here()
        self._engines: dict[int, tuple[KernelEngine | NumpyEngine, int]] = {}
        self._done: dict[Device, tuple[int, float]] = {}

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The work so far."""
        return tuple(
            WorkDone(device, NUMPY.kind if device == NUMPY else GENERAL, self._banded.unit, count, seconds)
            for device, (count, seconds) in self._done.items()
        )

    def get(self, widest: int, needed: Mapping[str, int]) -> tuple[KernelEngine | NumpyEngine, int]:
        """Return an engine that is large enough, and its kernel.

        Args:
            widest: half width of the band.
            needed: sizes of all slots together, by symbol.

        Raises:
            DeviceError: the kernel cannot be compiled, or there is not enough memory.
        """
        slots = self._place.slots
        divided = (*_SHARED, "blocks")
        part = {name: -(-size // slots) if name in divided else size for name, size in needed.items()}
        opened = self._engines.get(widest)
        if opened is not None and all(opened[0].sizes[name] >= size for name, size in part.items()):
            return opened
        if opened is not None:
            part = {name: max(size, opened[0].sizes[name]) for name, size in part.items()}
            opened[0].close()
        self._engines[widest] = self._open(widest, {name: size + size // 4 for name, size in part.items()})
        return self._engines[widest]

    def _open(self, widest: int, part: dict[str, int]) -> tuple[KernelEngine | NumpyEngine, int]:
        """Return an engine with slots of these sizes, and its kernel."""
        banded, device = self._banded, self._place.device
        sizes = part | scratch_sizes(widest, MEMBERS, part["query"], part["reference"])
        sizes |= {"slots": self._place.slots, "line_cells": (2 * widest + 3) * MEMBERS}
        strides = np.array([0 if name in _SHARED else sizes[name] for name in banded.strides])
        allocation = Allocation(banded.record.arguments, sizes, {"strides": strides, **self._tables})
        if device.kind == NUMPY.kind:
            numpy = NumpyEngine(device, allocation)
            return numpy, numpy.load(banded.numpy)
        engine = open_engine(device, allocation)
        return engine, engine.load(banded_kernel(banded, widest, device.kind))

    def run(
        self, engine: KernelEngine | NumpyEngine, kernel: int, fields: Mapping[str, Array | int], count: int
    ) -> None:
        """Write fields, launch the kernel on all slots, and wait.

        Args:
            engine, kernel: those of `get`.
            fields: arrays of all slots, by name.
            count: how many reads or gaps are computed.
        """
        begun = time.perf_counter()
        for name, values in fields.items():
            engine.write(name, values)
        if engine.slots == 1:
            engine.wait(engine.start(kernel, 0))
        else:
            engine.launch([kernel] * engine.slots)
        before, seconds = self._done.get(engine.device, (0, 0.0))
        self._done[engine.device] = before + count, seconds + time.perf_counter() - begun

    def close(self) -> None:
        """Free the memory."""
        for engine, _ in self._engines.values():
            engine.close()
        self._engines.clear()


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


def filled(values: Array, sizes: Mapping[str, int], symbol: str) -> Array:
    """Return values of all slots with zeros after them.

    Args:
        values: the values, of which slots have consecutive parts; those of blocks are dealt out in turns.
        sizes: sizes of the engine.
        symbol: symbol of the first dimension, of one slot.
    """
    slots, size = sizes["slots"], sizes[symbol]
    full = np.zeros((size * slots, *values.shape[1:]), dtype=values.dtype)
    full[: len(values)] = values
    if symbol != "blocks":
        return full
    return full.reshape(size, slots, *values.shape[1:]).swapaxes(0, 1)
