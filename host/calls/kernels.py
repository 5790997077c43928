"""Kernels of calling: those of this processor, called with arrays; and alignments of reads in bands on any
device, by one engine for each width of the band."""

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
from syclade.host.device.cuda import open_gpu
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.device.engines import Allocation, open_engine
from syclade.host.device.engines.local import NumpyCode, NumpyEngine
from syclade.host.device.work import GENERAL, WorkDone
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import SCRATCH, Argument
from syclade.kernels.baq.arguments import MEMBERS
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.pileup.arguments import COLUMNS, GROWTH, RECORDS
from syclade.kernels.pileup.indel_arguments import INDEL_ARGUMENTS
from syclade.kernels.pileup.tag_arguments import STORED, TAG_ARGUMENTS
from syclade.kernels.target.native.traits import TRAITS

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


BANDS = (7, 127)
"""Largest half widths of the bands of the kernels: that of reads without long indels, and the widest one."""

_SHARED = ("letters", "positions", "gaps", "gap_cells")
"""Sizes of arrays that all slots read and write: a slot's part of them begins at 0."""

_DIVIDED = (*_SHARED, "blocks")
"""Sizes that slots share between them; each has blocks of its own."""

_REALS = {
    "native": ("syclade.kernels.target.native.reals:REALS", TRAITS.lanes),
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
        opened = self._engines.get(widest)
        if opened is not None:
            sizes, slots = opened[0].sizes, opened[0].slots
            there = {name: sizes[name] * (slots if name in _DIVIDED else 1) for name in needed}
            if all(there[name] >= size for name, size in needed.items()):
                return opened
            needed = {name: max(size, there[name]) for name, size in needed.items()}
            opened[0].close()
            del self._engines[widest]
        self._engines[widest] = self._open(widest, {name: size + size // 4 for name, size in needed.items()})
        return self._engines[widest]

    def _open(self, widest: int, needed: Mapping[str, int]) -> tuple[KernelEngine | NumpyEngine, int]:
        """Return an engine for these sizes of all slots together, and its kernel."""
        banded, device = self._banded, self._place.device
        scratch = scratch_sizes(widest, MEMBERS, needed["query"], needed["reference"])
        scratch["line_cells"] = (2 * widest + 3) * MEMBERS
        slots = self._slots(scratch)
        part = {name: -(-size // slots) if name in _DIVIDED else size for name, size in needed.items()}
        sizes = part | scratch | {"slots": slots}
        strides = np.array([0 if name in _SHARED else sizes[name] for name in banded.strides])
        allocation = Allocation(banded.record.arguments, sizes, {"strides": strides, **self._tables})
        if device.kind == NUMPY.kind:
            numpy = NumpyEngine(device, allocation)
            return numpy, numpy.load(banded.numpy)
        engine = open_engine(device, allocation)
        return engine, engine.load(banded_kernel(banded, widest, device.kind))

    def _slots(self, scratch: Mapping[str, int]) -> int:
        """Return the number of slots; those of a GPU fit in half of this thread's part of its memory."""
        place = self._place
        if place.device.kind != "cuda":
            return place.slots
        arguments = [one for one in self._banded.record.arguments if one.role == SCRATCH]
        of_slot = sum(one.nbytes({**scratch, "slots": 1}) for one in arguments)
        free = open_gpu(place.device).free_bytes() // (2 * place.threads)
        return max(1, min(place.slots, free // of_slot))

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
