"""Tails of many columns: longest first, one column a slot, all slots full in each launch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails import blocked, grouped, tilted
from syclade.host.calls.tails.columns import (
    BLOCK,
    KERNELS,
    Columns,
    Reduced,
    Sizes,
    reduce_columns,
    sizes_of,
    tail_arguments,
    tail_kernel,
    work_of,
)
from syclade.host.device.choice import choose_device, open_first
from syclade.host.device.compile import machine_code
from syclade.host.device.device import NUMPY, PYTHON, Device, native_device, own_devices
from syclade.host.device.engines import Allocation, Engine, open_engine
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.device.work import COLUMNS, GENERAL, WithWork, WorkDone, WorkLog
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.values import Array, short_repr
from syclade.kernels.arguments import PROBLEM, SCRATCH
from syclade.kernels.target.native.traits import TRAITS as NATIVE

if TYPE_CHECKING:
    from syclade.host.device.compile.image import Image

__all__ = ["Tails", "fields_of", "log_tails", "numpy_engine"]


SLOTS = 256
MEMORY = 1 << 28
"""Slots of a run, unless the memory of all exceeds MEMORY, in bytes."""


@dataclass(frozen=True, eq=False)
class Tails(WithWork):
    """Tails of columns.

    Attributes:
        log_tails: float64 (columns,): ln P(X ≥ K) of each, in [−∞, 0].
        work: the columns that the device has computed; those whose K is certain or impossible need no device.
        slots: slots of the device.
        launches: number of launches.
        balance: work of all columns, as part of what the slots could have done while the longest column of
            each launch ran; 1 if there was nothing to do.
    """

    log_tails: NDArray[np.float64]
    work: tuple[WorkDone, ...]
    slots: int
    launches: int
    balance: float

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)


def log_tails(
    columns: Columns,
    *,
    device: str = "auto",
    kernel: str = "grouped",
    slots: int | None = None,
    block: int = BLOCK,
    image: Image | None = None,
) -> Tails:
    """Return ln P(X ≥ K) of each column; the result does not depend on the device or the number of slots.

    Args:
        columns: the columns.
        device: as for `choose_device`.
        kernel: one of KERNELS. Their results differ by less than 1e-12·max(1, |ln p|).
        slots: columns that are computed at the same time; None: as many as useful.
        block: entries of a block of the kernel `blocked`: W.
        image: precompiled kernel of an export, by `read_image`; `auto` takes the device that it is for.

    Raises:
        DeviceError: the device cannot be used, or has too little memory; the image is of another kernel or
            device.
        ValueError: there is no such kernel, a number is below 1, or a column is too deep.
    """
    if kernel not in KERNELS:
        raise ValueError(f"there is no kernel {kernel!r}; there are {', '.join(KERNELS)}")
    if block < 1 or (slots is not None and slots < 1):
        raise ValueError(f"{slots} slots, blocks of {block}: each should be at least 1")
    if image is not None:
        image.fit_tails(tail_kernel(kernel))
        device = image.kind if device == "auto" else device
    reduced = reduce_columns(columns)
    count = len(reduced.number)
    if count == 0:
        return Tails(reduced.log_tails, (), 0, 0, 1.0)
    sizes = sizes_of(kernel, reduced, block)
    most = slots or max(1, min(SLOTS, MEMORY // sizes.slot_bytes))
    chosen = _device_for(kernel, device)
    engine, number = open_first(
        chosen, lambda one: _open(one, kernel, sizes, min(most, count), image), explicit=device != "auto"
    )
    try:
        return _compute(reduced, engine, number, kernel)
    finally:
        engine.close()


def _device_for(kernel: str, wanted: str) -> Device:
    """Return the device; `auto` takes this processor if its machine code is there: it starts at once."""
    if wanted == "auto" and machine_code.is_compiled(tail_kernel(kernel, NATIVE.lanes)):
        return native_device()
    return choose_device(wanted)


def _open(device: Device, kernel: str, sizes: Sizes, slots: int, image: Image | None) -> tuple[Engine, int]:
    """Return an engine with the kernel's arrays, and the kernel's number there."""
    if image is not None and device.kind in (*(one.kind for one in own_devices()), PYTHON.kind):
        raise DeviceError(f"{image.path}: {device.name} takes no images", hint="use a SYCL device")
    if device.kind == NUMPY.kind:
        return numpy_engine(kernel, sizes, slots)
    made = tail_kernel(kernel, NATIVE.lanes if device.kind == "native" else 1)
    problem = {"parameters": np.array([sizes.groups, sizes.trials, sizes.room])}
    allocation = Allocation(tail_arguments(kernel), sizes.symbols(slots), problem)
    engine = open_engine(device, allocation, images={} if image is None else {made.name: image})
    return engine, engine.load(made)


def _compute(reduced: Reduced, engine: Engine, number: int, kernel: str) -> Tails:
    """Compute all columns, the longest first."""
    log_tails, slots = reduced.log_tails.copy(), engine.slots
    cells = work_of(kernel, reduced)
    order = np.argsort(-cells, kind="stable")
    name = NUMPY.kind if engine.device.kind == NUMPY.kind else GENERAL
    log = WorkLog(engine.device, name, COLUMNS, slots)
    for slot in range(slots):
        log.put(slot, 0)
    possible = 0.0
    batches = [order[first : first + slots] for first in range(0, len(order), slots)]
    for batch in batches:
        started = time.perf_counter()
        for field, values in fields_of(reduced, batch, engine, kernel).items():
            engine.write(field, values)
        engine.launch([number if slot < len(batch) else None for slot in range(slots)])
        log_tails[reduced.number[batch]] = engine.read("log_tail")[: len(batch)]
        log.launched(engine.read("done"), time.perf_counter() - started)
        possible += slots * cells[batch[0]]
    return Tails(log_tails, log.work, slots, len(batches), float(cells.sum() / possible))


def fields_of(reduced: Reduced, batch: NDArray[np.int64], engine: Engine, kernel: str) -> dict[str, Array]:
    """Return the arrays of a launch, by name; slots without a column have size 0."""
    starts, columns = reduced.columns.starts, reduced.columns
    groups = starts[batch + 1] - starts[batch]
    row = np.repeat(np.arange(len(batch)), groups)
    place = np.arange(len(row)) - np.repeat(np.cumsum(groups) - groups, groups)
    source = np.repeat(starts[batch], groups) + place
    p, counts = columns.probabilities[source], columns.counts[source]
    at_least = np.zeros(engine.slots, dtype=np.int64)
    at_least[: len(batch)] = columns.at_least[batch]
    sizes = np.zeros(engine.slots, dtype=np.int64)
    fields = {"at_least": at_least, "sizes": sizes}
    if kernel == "blocked":
        sizes[: len(batch)] = reduced.trials[batch]
        error = np.zeros((engine.slots, engine.sizes["trials"]))
        error[np.arange(error.shape[1]) < sizes[:, None]] = np.repeat(p, counts)
        return fields | {"error": error}
    sizes[: len(batch)] = groups
    probability = np.zeros((engine.slots, engine.sizes["groups"]))
    count = np.zeros(probability.shape, dtype=np.int64)
    probability[row, place], count[row, place] = p, counts
    return fields | {"probability": probability, "count": count}


Arrays = dict[str, Array]


def numpy_engine(name: str, sizes: Sizes, slots: int) -> tuple[NumpyEngine, int]:
    """Return an engine for a kernel's arrays, and the number of its code."""
    arguments = [one for one in tail_arguments(name) if one.role not in (PROBLEM, SCRATCH)]
    engine = NumpyEngine(NUMPY, Allocation(arguments, sizes.symbols(slots)))
    tail = partial(_blocked, sizes.room) if name == "blocked" else partial(_grouped, _TAILS[name])
    return engine, engine.load(partial(_run, tail))


def _run(tail: Callable[[Arrays, int], float], arrays: Arrays, slots: NDArray[np.intp]) -> None:
    """Compute the tails of the columns in these slots, one after another."""
    for slot in slots.tolist():
        if arrays["sizes"][slot]:
            arrays["log_tail"][slot] = tail(arrays, slot)
            arrays["done"][slot] += 1


_TAILS = {"grouped": grouped.tail_of_groups, "tilted": tilted.tail_of_groups}


def _grouped(tail: Callable[..., float], arrays: Arrays, slot: int) -> float:
    size = int(arrays["sizes"][slot])
    p, counts = (arrays[name][slot, :size] for name in ("probability", "count"))
    return tail(p, counts, int(arrays["at_least"][slot]))


def _blocked(block: int, arrays: Arrays, slot: int) -> float:
    trials = int(arrays["sizes"][slot])
    return blocked.tail_of_trials(arrays["error"][slot, :trials], int(arrays["at_least"][slot]), block)
