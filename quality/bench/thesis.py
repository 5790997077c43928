"""Measurements of the ffSCITE thesis's figure 4.1: makespan and throughput, compared with SCITE.

Section 4.3: three random inputs of 16 × 15, 32 × 31 and 64 × 63 cells × mutations; 6 and 12 chains; 500,000
to 2,000,000 steps per chain in increments of 500,000; ten runs each, whose makespans are averaged.

Our makespan covers the chains, from random trees to the best tree. It excludes reading the input and
compiling or loading kernels (the thesis measures its FPGA kernels). SCITE's covers the whole program.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.chains.backends import default_slots, make_runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import run_chains
from syclade.host.data.input.matrix import Matrix, format_matrix
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.device import Device
from syclade.host.device.work import require_executor
from syclade.host.ground.values import whole
from syclade.quality.bench.machine import machine
from syclade.quality.bench.measure import FN_RATE, FP_RATE, MISSING, versions
from syclade.quality.bench.stored import FFSCITE_KSTEPS, SCITE_KSTEPS, STORED_SOURCE
from syclade.quality.reference.scite_program import SciteSettings
from syclade.quality.work import mean_work

if TYPE_CHECKING:
    from syclade.quality.bench.energy import EnergyMeter
    from syclade.quality.reference.scite_program import Scite

__all__ = ["CHAINS", "RUNS", "SIZES", "STEPS", "Point", "Run", "ThesisBench", "run_thesis"]

SIZES = ((16, 15), (32, 31), (64, 63))
"""Cells and mutations."""
CHAINS = (6, 12)
STEPS = (500_000, 1_000_000, 1_500_000, 2_000_000)
RUNS = 10

WARM_UP_STEPS = 1000
"""Untimed steps of each chain before the timed runs: the first launches build and load things."""


@dataclass(frozen=True)
class Run:
    """One timed run.

    Attributes:
        seconds: makespan, wall time.
        joules: energy of the processor and its memory during the run; None if it was not measured.
    """

    seconds: float
    joules: float | None = None


@dataclass(frozen=True)
class Point:
    """One combination of parameters.

    Attributes:
        cells, mutations: size of the input.
        chains, steps: number of chains, and steps of each.
        ours: our runs.
        scite: runs of the user's SCITE, in turns with ours; empty without that program.
        executor: the device that did our steps.
    """

    cells: int
    mutations: int
    chains: int
    steps: int
    ours: tuple[Run, ...]
    scite: tuple[Run, ...]
    executor: str

    @property
    def total_steps(self) -> int:
        """Total number of steps of all chains."""
        return self.chains * self.steps

    @property
    def seconds(self) -> float:
        """Our makespan in seconds, the mean of the runs."""
        return statistics.fmean(run.seconds for run in self.ours)

    @property
    def scite_is_stored(self) -> bool:
        """Return whether SCITE's value, if there is any, is a stored one from another machine."""
        return not self.scite

    @property
    def scite_seconds(self) -> float | None:
        """SCITE's makespan in seconds: the mean of its runs, else from the stored throughput, else None."""
        if self.scite:
            return statistics.fmean(run.seconds for run in self.scite)
        stored = SCITE_KSTEPS.get((self.cells, self.mutations))
        return None if stored is None else self.total_steps / stored / 1e3

    @property
    def speedup(self) -> float | None:
        """SCITE's makespan divided by ours."""
        return None if self.scite_seconds is None else self.scite_seconds / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; makespans in seconds, throughputs in steps per second."""
        scite = self.scite_seconds
        return {
            **asdict(self),
            "seconds": self.seconds,
            "steps_per_second": self.total_steps / self.seconds,
            "joules": mean_joules(self.ours),
            "scite_seconds": scite,
            "scite_steps_per_second": None if scite is None else self.total_steps / scite,
            "scite_joules": mean_joules(self.scite),
            "scite_is_stored": None if scite is None else self.scite_is_stored,
            "speedup": self.speedup,
        }


@dataclass(frozen=True, eq=False)
class ThesisBench:
    """All points, and the conditions of the measurement.

    Attributes:
        points: the points, ordered by size, chains and steps.
        device, device_name: filter string and name of the requested device.
        encoding: how trees are stored in its memory.
        runs: timed runs of each program at each point.
        seed: seed of the inputs and the chains.
        scite: the user's SCITE program (name and SHA-256), or None.
        energy: how energy was measured, or why not; empty if it was not requested.
    """

    points: tuple[Point, ...]
    device: str
    device_name: str
    encoding: str
    runs: int
    seed: int
    scite: dict[str, str] | None
    energy: str

    @property
    def work(self) -> dict[str, float]:
        """Share of the points by the executor that did our steps."""
        return mean_work([{point.executor: 1.0} for point in self.points])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "suite": "thesis",
            "device": self.device,
            "device_name": self.device_name,
            "encoding": self.encoding,
            "work": self.work,
            "runs": self.runs,
            "seed": self.seed,
            "rates": {"fp_rate": FP_RATE, "fn_rate": FN_RATE, "missing": MISSING},
            "scite": self.scite,
            "stored": {
                "source": STORED_SOURCE,
                "scite_ksteps": {f"{m} x {n}": rate for (m, n), rate in SCITE_KSTEPS.items()},
                "ffscite_ksteps": FFSCITE_KSTEPS,
            },
            "energy": self.energy,
            "machine": machine(),
            "versions": versions(),
            "points": [point.to_dict() for point in self.points],
        }


def mean_joules(runs: tuple[Run, ...]) -> float | None:
    """Return the mean energy of the runs in joules, or None unless it was measured for all of them."""
    joules = [run.joules for run in runs if run.joules is not None]
    return statistics.fmean(joules) if joules and len(joules) == len(runs) else None


def run_thesis(
    device: Device,
    encoding: str = "auto",
    *,
    runs: int = RUNS,
    seed: int = 1,
    scite: Scite | None = None,
    meter: EnergyMeter | None = None,
    energy: str = "",
    done: Callable[[Point], None] | None = None,
) -> ThesisBench:
    """Measure all points of the thesis's figure 4.1.

    With ten runs per point, our runs take some minutes on two cores; SCITE's take hours.

    Args:
        device: a usable device.
        encoding: name of an encoding, or auto.
        runs: timed runs of each program at each point.
        seed: seed of the inputs and the chains.
        scite: a SCITE program to measure in turns with ours.
        meter: measures the energy of each run.
        energy: how the meter measures, or why there is none.
        done: called after each point.

    Raises:
        SycladeError: a number is invalid, the device cannot run, or SCITE fails.
    """
    runs = whole("runs (--runs)", runs, 1, 10**6)
    points = []
    for cells, mutations in SIZES:
        matrix = simulate(cells, mutations, FP_RATE, FN_RATE, MISSING, seed).matrix
        plan = make_plan(make_problem(matrix, Rates(FP_RATE, FN_RATE)))
        made = choose_encoding(encoding, device, plan.problem).name
        for chains in CHAINS:
            for point in _points_of(plan, matrix, device, encoding, chains, runs, seed, scite, meter):
                points.append(point)
                if done is not None:
                    done(point)
    program = None if scite is None else {"program": scite.path.name, "sha256": scite.digest}
    return ThesisBench(tuple(points), device.filter, device.name, made, runs, seed, program, energy)


def _points_of(
    plan: Plan,
    matrix: Matrix,
    device: Device,
    encoding: str,
    chains: int,
    runs: int,
    seed: int,
    scite: Scite | None,
    meter: EnergyMeter | None,
) -> Iterator[Point]:
    """Measure all chain lengths for one number of chains, with one runner."""
    made = choose_encoding(encoding, device, plan.problem)
    runner = make_runner(device, plan, made, default_slots(device, plan, made, chains), seed)
    require_executor(runner.executor, device)
    try:
        run_chains(runner, chains=chains, steps=WARM_UP_STEPS)
        for steps in STEPS:
            ours, theirs = [], []
            for number in range(runs):
                ours.append(_timed(meter, partial(run_chains, runner, chains=chains, steps=steps)))
                if scite is not None:
                    theirs.append(_scite_run(scite, matrix, chains, steps, seed + number, meter))
            yield Point(
                matrix.n_cells,
                matrix.n_mutations,
                chains,
                steps,
                tuple(ours),
                tuple(theirs),
                runner.executor.filter,
            )
    finally:
        runner.close()


def _timed(meter: EnergyMeter | None, run: Callable[[], object]) -> Run:
    """Run a function and time it."""
    before = None if meter is None else meter.joules()
    started = time.perf_counter()
    run()
    seconds = time.perf_counter() - started
    return Run(seconds, None if meter is None or before is None else meter.joules() - before)


def _scite_run(
    scite: Scite, matrix: Matrix, chains: int, steps: int, seed: int, meter: EnergyMeter | None
) -> Run:
    """Time the user's SCITE on a matrix, called as by `syclade quality reference`.

    Raises:
        SciteError: SCITE fails.
    """
    settings = SciteSettings(Rates(FP_RATE, FN_RATE), chains, steps)
    with tempfile.TemporaryDirectory(prefix="syclade-scite-") as folder:
        given, log, tree = (Path(folder, name) for name in ("input.csv", "scite.log", "out_ml0.newick"))
        given.write_text(format_matrix(matrix.values), encoding="ascii")
        size = (matrix.n_mutations, matrix.n_cells)
        arguments = scite.arguments(settings, given, size, seed, Path(folder, "out"))
        return _timed(meter, lambda: scite.run(arguments, log, tree, threading.Event()))
