"""Series of measurements: published input sizes, and the quantities that the speed depends on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from syclade.host.chains.encodings import encodings_of
from syclade.host.device.device import Device, usable_cores
from syclade.host.ground.errors import DeviceError
from syclade.quality.bench.measure import measure
from syclade.quality.bench.stored import SCITE_KSTEPS

__all__ = ["SIZES", "Point", "measured_in_subprocess", "run_scaling", "run_suite"]

SIZES = ((32, 31), (64, 63), (95, 94), (128, 127), (1000, 500), (5000, 100))
"""Cells and mutations: bbSCITE's three sizes, then larger ones."""

CELLS = (16, 32, 64, 128, 256, 512, 1024)
MUTATIONS = (15, 31, 63, 127, 255, 511)
SLOTS = (1, 2, 4, 8, 16, 32, 64)

Report = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One measurement in a series that varies one quantity.

    Attributes:
        axis: the varied quantity: cells, mutations, slots or threads.
        value: its value.
        report: the measurement, from `Measurement.as_dict`.
    """

    axis: str
    value: int
    report: Report


def run_suite(
    devices: list[Device],
    *,
    seconds: float,
    repeats: int,
    done: Callable[[Report], None],
) -> list[Report]:
    """Measure every size on every device in every encoding.

    Args:
        devices: usable devices.
        seconds, repeats: as for `measure`.
        done: called after each measurement.
    """
    reports = []
    for cells, mutations in SIZES:
        for device in devices:
            for encoding in sorted(encodings_of(device), reverse=True):
                measured = measure(
                    device, encoding, cells=cells, mutations=mutations, seconds=seconds, repeats=repeats
                )
                report = measured.as_dict()
                scite = SCITE_KSTEPS.get((cells, mutations))
                report["times_scite_core"] = (
                    None if scite is None else measured.steps_per_second / scite / 1e3
                )
                reports.append(report)
                done(report)
    return reports


def run_scaling(
    device: Device, encoding: str, *, seconds: float, repeats: int, done: Callable[[Point], None]
) -> list[Point]:
    """Vary cells, mutations, slots and threads, one at a time, around 64 cells and 63 mutations.

    Args:
        device: a usable device.
        encoding: name of an encoding, or auto.
        seconds, repeats: as for `measure`.
        done: called after each measurement.
    """
    points = []
    for axis, value, changed in _axes():
        measured = measure(device, encoding, seconds=seconds, repeats=repeats, **changed)
        points.append(Point(axis, value, measured.as_dict()))
        done(points[-1])
    for threads in range(1, usable_cores() + 1):
        report = _with_threads(threads, device, encoding, seconds, repeats)
        points.append(Point("threads", threads, report))
        done(points[-1])
    return points


def _axes() -> Iterator[tuple[str, int, dict[str, Any]]]:
    for cells in CELLS:
        yield "cells", cells, {"cells": cells}
    for mutations in MUTATIONS:
        yield "mutations", mutations, {"mutations": mutations}
    for slots in SLOTS:
        yield "slots", slots, {"slots": slots}


def _with_threads(threads: int, device: Device, encoding: str, seconds: float, repeats: int) -> Report:
    """Measure in a subprocess that may use this many processors: the runtime checks only when it starts."""
    command = [sys.executable, "-P", "-m", "syclade", "bench", "--json"]
    command += ["--device", device.filter, "--encoding", encoding]
    command += ["--seconds", str(seconds), "--repeats", str(repeats)]
    return measured_in_subprocess(command, threads)


def measured_in_subprocess(command: Sequence[str], threads: int) -> Report:
    """Return the report of a measurement in a process that may use this many cores.

    Args:
        command: the process; it prints its report as JSON.
        threads: number of cores.

    Raises:
        DeviceError: it fails.
    """
    allowed = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    if done.returncode:
        reason = done.stderr.strip() or f"it ends with {done.returncode}"
        raise DeviceError(f"a measurement with {threads} threads fails: {reason}")
    report: Report = json.loads(done.stdout)
    return report
