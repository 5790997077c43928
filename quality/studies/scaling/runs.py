"""Speed of chains with doublets on some cores: many slots, and one slot with all or half of the cells."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syclade.quality.bench.suite import measured_in_subprocess

__all__ = ["CASES", "RATE", "Case", "Run", "Speed", "measure_all", "run_of"]

RATE = 0.1
"""Rate of doublets of the inputs and of the chains."""


@dataclass(frozen=True)
class Case:
    """An input size.

    Attributes:
        name: name for reports.
        mutations, cells: its size.
        slots: slots per thread.
    """

    name: str
    mutations: int
    cells: int
    slots: int


CASES = (
    Case("pat_2", 16, 115, 4),
    Case("500 x 40", 40, 500, 4),
    Case("1000 x 100", 100, 1000, 2),
    Case("50,000 x 100", 100, 50_000, 1),
)
"""Names have cells and mutations. The last is the size of the publication."""


@dataclass(frozen=True)
class Run:
    """Size to measure, with its number of cells, slots and threads."""

    mutations: int
    cells: int
    slots: int
    threads: int


@dataclass(frozen=True)
class Speed:
    """A run's speed.

    Attributes:
        run: what was measured.
        steps: steps per second of wall time over all slots, median of the turns.
        cpu_ns: processor time of a step in ns, median of the turns.
    """

    run: Run
    steps: float
    cpu_ns: float


def run_of(run: Run, device: str, seconds: float, seed: int) -> tuple[float, float]:
    """Measure in a process that may use this many cores; return steps per second and ns of a processor.

    Raises:
        DeviceError: the measurement fails.
    """
    command = [sys.executable, "-P", "-m", "syclade", "bench", "--json", "--device", device]
    numbers = {
        "--cells": run.cells,
        "--mutations": run.mutations,
        "--slots": run.slots,
        "--threads": run.threads,
        "--seconds": seconds,
        "--seed": seed,
        "--doublets": RATE,
        "--repeats": 1,
    }
    command += [str(part) for pair in numbers.items() for part in pair]
    report = measured_in_subprocess(command, run.threads)
    return report["steps_per_second"], report["cpu_ns_per_step"]


def measure_all(
    runs: Sequence[Run],
    device: str,
    seconds: float,
    repeats: int,
    seed: int,
    show: Callable[[str], None],
) -> dict[Run, Speed]:
    """Measure all runs in turns.

    Args:
        runs: the runs.
        device: filter string of the device.
        seconds: length of a measurement.
        repeats: number of turns.
        seed: seed of inputs and chains.
        show: called with each activity.
    """
    found: dict[Run, list[tuple[float, float]]] = {run: [] for run in runs}
    for turn in range(repeats):
        for run in found:
            show(f"{run.cells} x {run.mutations}, {run.threads} threads, turn {turn + 1}")
            found[run].append(run_of(run, device, seconds, seed))
    return {
        run: Speed(run, *(statistics.median(column) for column in zip(*values, strict=True)))
        for run, values in found.items()
    }
