"""The article's host: LoFreq's processes with synchronous calls, on the CPU alone or with column units.

Each process works on one chunk of neighbouring columns, one column after another. It prepares a column on a
core, then waits for a column unit to be free and to finish. All processes run at the same time and queue,
first come, first served, for cores and for units (section 5).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.quality.design.columns.generate import Shape
from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.columns.reader import HostModel

__all__ = ["HostRun", "chunks_of", "cpu_seconds", "longest_first", "simulate_host"]

CORES = 8


@dataclass(frozen=True)
class HostRun:
    """Modelled end-to-end run of a data set.

    Attributes:
        seconds: from start to end.
        core_share: part of the cores' time that is work.
        unit_share: part of the column units' time that is work.
        tail_seconds: time in which a single chunk was left.
        wrong_columns: columns whose K does not fit in the units' memory.
    """

    seconds: float
    core_share: float
    unit_share: float
    tail_seconds: float
    wrong_columns: int


def chunks_of(columns: int, chunks: int) -> list[range]:
    """Return chunks of neighbouring columns, of about the same number."""
    edges = np.linspace(0, columns, min(chunks, columns) + 1).round().astype(int).tolist()
    return [range(low, high) for low, high in pairwise(edges)]


def cpu_seconds(shape: Shape, host: HostModel) -> float:
    """Return the time without accelerator: each process takes the next chunk when it is free."""
    cells = shape.depths * shape.at_least.astype(np.float64)
    work = (shape.depths * host.base_ns + cells * host.cell_ns) * 1e-9
    speed = host.cores / host.processes
    free = [0.0] * int(host.processes)
    for chunk in chunks_of(len(work), int(host.cpu_chunks)):
        heapq.heappush(free, heapq.heappop(free) + work[chunk.start : chunk.stop].sum() / speed)
    return max(free)


def unit_seconds(design: ColumnDesign, shape: Shape) -> NDArray[np.float64]:
    """Return the time of a column unit for each column."""
    kinds, which = np.unique(shape.at_least, return_inverse=True)
    cycles = np.array([design.cycles_per_base(k) for k in kinds.tolist()])[which]
    seconds: NDArray[np.float64] = shape.depths * cycles / (design.clock_mhz * 1e6)
    return seconds


def simulate_host(design: ColumnDesign, shape: Shape, host: HostModel) -> HostRun:
    """Simulate a data set on a design, event by event."""
    prepare = (shape.depths * (host.base_ns * 1e-9 * CORES / host.cores)).tolist()
    compute = unit_seconds(design, shape).tolist()
    chunks = chunks_of(len(prepare), design.chunks)
    place = [chunk.start for chunk in chunks]
    cores, units = [0.0] * CORES, [0.0] * design.units
    arrivals = [
        (0.0, number, False) for number in range(len(chunks))
    ]  # time, chunk, at a unit (else at a core)
    ended = [0.0] * len(chunks)
    while arrivals:
        now, number, at_unit = heapq.heappop(arrivals)
        column = place[number]
        free, duration = (units, compute[column]) if at_unit else (cores, prepare[column])
        end = max(now, free[0]) + duration
        heapq.heapreplace(free, end)
        if at_unit:
            place[number] += 1
            ended[number] = end
        if not at_unit or place[number] < chunks[number].stop:
            heapq.heappush(arrivals, (end, number, not at_unit))
    last = max(ended)
    return HostRun(
        seconds=last,
        core_share=sum(prepare) / (CORES * last),
        unit_share=sum(compute) / (design.units * last),
        tail_seconds=last - (sorted(ended)[-2] if len(ended) > 1 else 0.0),
        wrong_columns=sum(not design.fits(k) for k in shape.at_least.tolist()),
    )


def longest_first(design: ColumnDesign, shape: Shape) -> float:
    """Return the time of the units alone if each takes the longest column that is left: no chunks."""
    free = [0.0] * design.units
    for duration in sorted(unit_seconds(design, shape).tolist(), reverse=True):
        heapq.heapreplace(free, free[0] + duration)
    return max(free)
