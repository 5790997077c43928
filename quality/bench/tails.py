"""Measure tails of distributions: one column alone on a device, and all columns of a genome.

Times of a column are those of its launch on one slot, as the device's or the host's clock tells: the core of
variant calling alone. Times of a genome are wall time from groups of probabilities to results.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from syclade.host.calls.tails import columns_of, log_tails
from syclade.host.calls.tails.columns import (
    BLOCK,
    KERNELS,
    Columns,
    reduce_columns,
    sizes_of,
    tail_arguments,
    tail_kernel,
)
from syclade.host.calls.tails.run import fields_of
from syclade.host.device.choice import choose_device
from syclade.host.device.engines import Allocation, open_engine
from syclade.host.device.work import require_all, work_dicts
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.quality.bench.algorithm1 import STORED, has_c_compiler, run_in_c
from syclade.quality.bench.machine import machine
from syclade.quality.design.columns.generate import generate_shape, group_errors
from syclade.quality.design.columns.host import longest_first
from syclade.quality.design.columns.reader import column_designs, datasets

__all__ = ["POINTS", "bench_tails", "describe_point", "example_column", "genome_of", "table"]

POINTS = ((10_000, 100), (100_000, 300), (300_000, 700), (1_000_000, 1100), (300_000, 20_000))
"""(N, K) of the columns that are measured alone."""

MOST_CELLS = 4e8
"""Largest N·K for Algorithm 1, which takes some nanoseconds for each cell."""

GROUPS = 40
MEAN_DEPTH = 400_000

Done = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Timing:
    """Timed launches of one column.

    Attributes:
        seconds: median over the repeats.
        log_tail: the result.
    """

    seconds: float
    log_tail: float


def example_column(trials: int, at_least: int, seed: int = 1) -> Columns:
    """Return a column with N, K, base qualities from 20 to 41, and K/4 expected errors."""
    p, counts = group_errors(trials, at_least / 4, GROUPS, np.random.default_rng(seed))
    return columns_of([(p, counts, at_least)])


def measure_column(columns: Columns, device: str, kernel: str, repeats: int) -> Timing:
    """Launch a kernel on one column, alone in one slot, after a warm-up.

    Raises:
        DeviceError: the device cannot run.
    """
    chosen, reduced = choose_device(device), reduce_columns(columns)
    if chosen.kind == "numpy":
        raise DeviceError("numpy has no kernels to measure", hint=f"use {flag_of('device', 'native')}")
    sizes = sizes_of(kernel, reduced)
    problem = {"parameters": np.array([sizes.groups, sizes.trials, sizes.room])}
    allocation = Allocation(tail_arguments(kernel), sizes.symbols(1), problem)
    engine = open_engine(chosen, allocation, timed=True)
    try:
        number = engine.load(tail_kernel(kernel, NATIVE.lanes if chosen.kind == "native" else 1))
        for name, values in fields_of(reduced, np.array([0]), engine, kernel).items():
            engine.write(name, values)
        seconds = []
        for _ in range(repeats + 1):
            token = engine.start(number, 0)
            engine.wait(token)
            begun, ended = engine.times(token)
            seconds.append((ended - begun) / 1e9)
        if engine.read("done")[0] != repeats + 1:
            raise AssertionError(f"{chosen.filter} did not run each launch")
        return Timing(statistics.median(seconds[1:]), float(engine.read("log_tail")[0]))
    finally:
        engine.close()


def bench_tails(
    devices: Sequence[str],
    *,
    points: Sequence[tuple[int, int]] = POINTS,
    repeats: int = 5,
    columns: int | None = None,
    done: Done | None = None,
) -> dict[str, Any]:
    """Measure all kernels on devices, Algorithm 1 in C, and a genome.

    Args:
        devices: as for `choose_device`.
        points: (N, K) of columns that are measured alone.
        repeats: timed launches of each.
        columns: columns of the genome; None: 29,903.
        done: called with each point.

    Returns:
        Plain values: machine, points, genome.
    """
    report: dict[str, Any] = {"machine": machine(), "block": BLOCK, "points": [], "genome": []}
    for trials, at_least in points:
        point = _point(trials, at_least, devices, repeats)
        report["points"].append(point)
        if done is not None:
            done(point)
    genome = genome_of("L1", MEAN_DEPTH, columns)
    report["genome"] = [measure_genome(genome, device) for device in devices]
    report["genome_beside"] = _beside(columns)
    return report


def _point(trials: int, at_least: int, devices: Sequence[str], repeats: int) -> dict[str, Any]:
    """Return the times of one column, in seconds; those of C first."""
    column = example_column(trials, at_least)
    few = trials * at_least > MOST_CELLS
    point: dict[str, Any] = {"n": trials, "k": at_least, "groups": GROUPS, "seconds": {}, "log_tail": {}}
    slow = min(repeats, 3)
    if has_c_compiler() and not few:
        in_c = run_in_c(np.repeat(column.probabilities, column.counts), at_least, slow)
        point["seconds"]["C"], point["log_tail"]["C"] = statistics.median(in_c.seconds), in_c.log_tail
        point["compiler"] = in_c.compiler
    if (trials, at_least) in STORED:
        point["stored_seconds_of_lofreq"] = STORED[trials, at_least]
    for device in devices:
        for kernel in KERNELS:
            if kernel == "blocked" and few:
                continue
            timed = measure_column(column, device, kernel, repeats if kernel == "grouped" else slow)
            point["seconds"][f"{kernel} {device}"] = timed.seconds
            point["log_tail"][f"{kernel} {device}"] = timed.log_tail
    return point


def genome_of(name: str, mean_depth: int, columns: int | None = None, seed: int = 1) -> Columns:
    """Return generated columns of a whole genome: K as in a row of Table 1, another mean depth."""
    shape = generate_shape(replace(datasets()[name], n_mean=mean_depth), seed, columns=columns)
    rng = np.random.default_rng(seed)
    each = zip(shape.depths.tolist(), shape.at_least.tolist(), strict=True)
    return columns_of((*group_errors(depth, k / 2, GROUPS, rng), k) for depth, k in each)


def measure_genome(columns: Columns, device: str) -> dict[str, Any]:
    """Return the time of all columns on a device, after a first column that loads the kernel.

    Raises:
        DeviceError: the device cannot run, or did not do all of the work.
    """
    log_tails(example_column(100, 10), device=device)
    started = time.perf_counter()
    found = log_tails(columns, device=device)
    seconds = time.perf_counter() - started
    require_all(found.work, choose_device(device).filter)
    return {
        "columns": len(columns),
        "bases": int(columns.counts.sum()),
        "seconds": seconds,
        "launches": found.launches,
        "balance": found.balance,
        "work": work_dicts(found.work),
    }


def _beside(columns: int | None) -> dict[str, Any]:
    """Return the seed's accelerator, modelled for the same columns, and its CPU time of L1, published."""
    data = replace(datasets()["L1"], n_mean=MEAN_DEPTH)
    shape = generate_shape(data, columns=columns)
    designs = column_designs()
    units = {name: longest_first(designs[name], shape) for name in ("O/S/8", "O/D/8", "I/S/8")}
    return {
        "column_units_alone_modelled_seconds": units,
        "lofreq_16_processes_published_hours_of_L1": datasets()["L1"].hours,
        "mean_depth_of_L1": datasets()["L1"].n_mean,
    }


def table(report: dict[str, Any]) -> str:
    """Return the report as text."""
    lines = [describe_point(point) for point in report["points"]]
    for one in report["genome"]:
        device = ", ".join(work["device"] for work in one["work"])
        lines.append(f"{one['columns']} columns, {one['bases']} bases on {device}: {one['seconds']:.2f} s")
    beside = report["genome_beside"]
    for name, seconds in beside["column_units_alone_modelled_seconds"].items():
        lines.append(f"  accelerator {name}, units alone, modelled: {seconds:.0f} s")
    hours, depth = beside["lofreq_16_processes_published_hours_of_L1"], beside["mean_depth_of_L1"]
    lines.append(f"  LoFreq in 16 processes on L1, published: {hours} h at depth {depth}")
    return "\n".join(lines)


def describe_point(point: dict[str, Any]) -> str:
    """Return the times of one column as text."""
    lines = [f"N = {point['n']}, K = {point['k']}, {point['groups']} groups"]
    lines += [f"  {name:18} {1000 * seconds:12.3f} ms" for name, seconds in point["seconds"].items()]
    if "stored_seconds_of_lofreq" in point:
        stored = 1000 * point["stored_seconds_of_lofreq"]
        lines.append(f"  {'LoFreq, stored':18} {stored:12.3f} ms, measured once on another machine")
    return "\n".join(lines)
