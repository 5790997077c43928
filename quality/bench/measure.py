"""Measure chain steps per second, with the same launches as an inference, on a simulated input.

Chains start from the tree that the input was simulated from, so that the long run is timed. The approach to
that tree accepts more moves, and takes minutes on large inputs.

Wall time is the time that a user sees. Processor time, over all threads, is the cost of a step on one core.
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import Plan, make_leaf_plan, make_plan
from syclade.host.chains.runs.clock import LAUNCH_SECONDS
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.data.model.problem import make_leaf_problem, make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.data.trees.cells import leaf_tree_of
from syclade.host.device.device import Device, usable_cores
from syclade.host.device.work import require_executor
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import real, whole
from syclade.quality.bench.circuits import MANY_CHAINS, device_of, open_circuit

if TYPE_CHECKING:
    from dpctl import SyclDevice, SyclQueue

    from syclade.quality.bench.energy import EnergyMeter

__all__ = ["Measurement", "Timing", "bench", "measure", "versions"]

FP_RATE, FN_RATE, MISSING = 1e-6, 0.25, 0.25
"""Rates of the inputs in the ffSCITE thesis's measurements (section 4.3)."""

_PACKAGES = ("syclade", "numpy", "dpctl", "numba-dpex")


@dataclass(frozen=True)
class Timing:
    """One timed run.

    Attributes:
        steps: chain steps over all slots.
        seconds: wall time.
        cpu_seconds: processor time of the whole process.
        joules: energy of the processor and its memory during the run; None if it was not measured.
    """

    steps: int
    seconds: float
    cpu_seconds: float
    joules: float | None = None


@dataclass(frozen=True)
class Measurement:
    """Speed of one kind of chain on one device.

    Attributes:
        device, device_name, kind: filter string, name and kind of the device that executed the steps.
        encoding: how trees are stored in its memory.
        cells, mutations: size of the simulated input.
        slots: number of concurrent chains, one per slot.
        seed: seed of the input and of the chains.
        launch_steps: steps of each chain in a launch.
        acceptance: accepted fraction of the steps in the timed runs.
        memory_bytes: memory of chain states and tables.
        cores: number of processors that this process may use.
        timings: the timed runs.
        versions: versions of Python and of the relevant packages that are installed.
        stages: how the stages of a step ran, as for `infer`.
        image: file of the precompiled kernel or stages; None if they were compiled.
    """

    device: str
    device_name: str
    kind: str
    encoding: str
    cells: int
    mutations: int
    slots: int
    seed: int
    launch_steps: int
    acceptance: float
    memory_bytes: int
    cores: int
    timings: tuple[Timing, ...]
    versions: dict[str, str]
    stages: str = "fused"
    image: str | None = None

    @property
    def rates(self) -> tuple[float, ...]:
        """Chain steps per second of each run, over all slots."""
        return tuple(timing.steps / timing.seconds for timing in self.timings)

    @property
    def steps_per_second(self) -> float:
        """Median of `rates`."""
        return statistics.median(self.rates)

    @property
    def ns_per_step(self) -> float:
        """Wall time per chain step in ns; median of the runs."""
        return 1e9 / self.steps_per_second

    @property
    def cpu_ns_per_step(self) -> float:
        """Processor time per chain step, that is, on one core, in ns; median of the runs."""
        return statistics.median(1e9 * timing.cpu_seconds / timing.steps for timing in self.timings)

    @property
    def joules_per_step(self) -> float | None:
        """Energy per chain step in joules; median of the runs, or None unless all of them have it."""
        known = [each.joules / each.steps for each in self.timings if each.joules is not None]
        return statistics.median(known) if len(known) == len(self.timings) else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            **asdict(self),
            "steps_per_second": self.steps_per_second,
            "steps_per_second_min": min(self.rates),
            "steps_per_second_max": max(self.rates),
            "ns_per_step": self.ns_per_step,
            "cpu_ns_per_step": self.cpu_ns_per_step,
            "joules_per_step": self.joules_per_step,
        }


def bench(
    device: str | SyclDevice | SyclQueue = "auto",
    *,
    cells: int = 64,
    mutations: int = 63,
    encoding: str = "auto",
    slots: int | None = None,
    seconds: float = 3.0,
    repeats: int = 5,
    seed: int = 1,
    tree: str = "mutation",
    score: str = "max",
    learn_fn: float | None = None,
    doublets: float | None = None,
    stages: str = "fused",
    image: str | os.PathLike[str] | None = None,
) -> Measurement:
    """Time chains on a simulated input, as `syclade bench` does for one size.

    Args:
        device: as for `infer`; one device.
        cells, mutations, encoding, slots, seconds, repeats, seed: as for `measure`.
        tree, score, learn_fn, doublets, stages, image: as for `measure`.

    Returns:
        Steps per second and per nanosecond of each run, memory, acceptance, versions.

    Raises:
        SycladeError: as for `measure`.
    """
    chosen = device_of(device, stages, image)
    size: dict[str, Any] = {"cells": cells, "mutations": mutations, "slots": slots, "seed": seed}
    parts: dict[str, Any] = {"tree": tree, "score": score, "learn_fn": learn_fn, "doublets": doublets}
    parts |= {"stages": stages, "image": image}
    return measure(chosen, encoding, seconds=seconds, repeats=repeats, **size, **parts)


def measure(
    device: Device,
    encoding: str = "auto",
    *,
    cells: int = 64,
    mutations: int = 63,
    slots: int | None = None,
    seconds: float = 3.0,
    repeats: int = 5,
    seed: int = 1,
    tree: str = "mutation",
    score: str = "max",
    learn_fn: float | None = None,
    doublets: float | None = None,
    general: bool = False,
    stages: str = "fused",
    image: str | os.PathLike[str] | None = None,
    meter: EnergyMeter | None = None,
) -> Measurement:
    """Time chains on a simulated input, after a warm-up as long as one run.

    Args:
        device: a usable device.
        encoding: name of an encoding; auto selects the one that inferences use.
        cells, mutations: size of the input.
        slots: number of concurrent chains; by default that of an inference with many chains.
        seconds: minimum length of each timed run.
        repeats: number of timed runs.
        seed: seed of the input and of the chains.
        tree: kind of tree: mutation, or leaf for cell trees.
        score: score of mutation trees: max or sum.
        learn_fn: as for `infer`; for mutation trees only.
        doublets: rate of doublets of the input and of the chains; for mutation trees only. Replaces `score`.
        general: whether to run the precompiled kernel for all sizes, as short runs do, if there is one.
        stages: fused, or separate or overlapping stages of mutation trees on the encoding ancestor.
        image: file with the precompiled kernel, or the precompiled stages, for separate ones.
        meter: measures the energy of each run.

    Raises:
        SycladeError: a number is invalid, the device cannot run, or another device did the work.
    """
    seconds = real("seconds (--seconds)", seconds)
    if not 0 < seconds < math.inf:
        raise OptionError(f"seconds (--seconds) is {seconds}", hint="give a positive number")
    repeats = whole("repeats (--repeats)", repeats, 1, 10**6)
    slots = None if slots is None else whole("slots (--slots)", slots, 1, 2**31 - 1)
    simulation = simulate(cells, mutations, FP_RATE, FN_RATE, MISSING, seed, doublets=doublets)
    plan, begin = _plan_of(simulation, tree, ScoreOptions(score, doublets), learn_fn)
    if stages == "fused" and image is None:
        made = choose_encoding(encoding, device, plan.problem, plan.space.encoding)
        if general:
            made = made.general() or made
        count = default_slots(device, plan, made, MANY_CHAINS) if slots is None else slots
        runner = make_runner(device, plan, made, count, seed)
    else:
        if tree != "mutation" or doublets is not None or score == "shares":
            raise OptionError(
                f"{flag_of('stages')} and {flag_of('image')} are for mutation trees with score max or sum",
                hint="leave them out",
            )
        runner, count = open_circuit(device, plan, encoding, slots, seed, stages, image)
    require_executor(runner.executor, device)
    try:
        runner.put_all([state_at(plan, begin, chain) for chain in range(count)])
        launch_steps = _warm_up(runner, seconds)
        before = runner.read_all("tallies").sum(axis=0)
        timings = tuple(_timed_run(runner, launch_steps, seconds, meter) for _ in range(repeats))
        tallies = runner.read_all("tallies").sum(axis=0) - before
        memory = runner.memory_bytes
    finally:
        runner.close()
    return Measurement(
        device=runner.executor.filter,
        device_name=runner.executor.name,
        kind=runner.executor.kind,
        encoding=runner.encoding.name,
        cells=cells,
        mutations=mutations,
        slots=count,
        seed=seed,
        launch_steps=launch_steps,
        acceptance=float(tallies.reshape(2, -1)[1].sum() / tallies.reshape(2, -1)[0].sum()),
        memory_bytes=memory,
        cores=usable_cores(),
        timings=timings,
        versions=versions(),
        stages=stages,
        image=None if image is None else os.fspath(image),
    )


def _plan_of(
    simulation: Simulation, tree: str, score: ScoreOptions, learn_fn: float | None
) -> tuple[Plan, NDArray[np.int32]]:
    """Return the plan of the chains, and the simulated tree that they start from."""
    matrix, rates = simulation.matrix, Rates(FP_RATE, FN_RATE)
    if tree == "mutation":
        model = make_rate_model(rates, learn_fn=learn_fn)
        problem = make_problem(matrix, rates, octaves=score.octaves, model=model)
        made = score_named(score.name, problem, score.doublets)
        return make_plan(problem, score=made, space=space_of(score)), simulation.parents

    begin = leaf_tree_of(simulation.parents, simulation.attachments.tolist())
    return make_leaf_plan(make_leaf_problem(matrix, rates)), begin


def versions() -> dict[str, str]:
    """Return the versions of Python and of the relevant packages that are installed."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _warm_up(runner: Runner, seconds: float) -> int:
    """Run for this many seconds, and return the number of steps in a launch of the usual length."""
    _launch(runner, 1)  # the first launch may still build something
    launch_steps, usual, started = 1, 0, time.perf_counter()
    while True:
        launched = time.perf_counter()
        _launch(runner, launch_steps)
        ended = time.perf_counter()
        fitting = int(launch_steps * LAUNCH_SECONDS / max(ended - launched, 1e-6))
        # Twice, because a launch may make tables or start processes.
        usual = usual + 1 if fitting <= 2 * launch_steps else 0
        if ended - started >= seconds and usual >= 2:
            return launch_steps
        launch_steps = max(1, min(fitting, 4 * launch_steps))


def _timed_run(runner: Runner, launch_steps: int, seconds: float, meter: EnergyMeter | None) -> Timing:
    """Time launches until this many seconds have passed, at least one launch."""
    steps = 0
    before = None if meter is None else meter.joules()
    started, cpu_started = time.perf_counter(), time.process_time()
    while True:
        _launch(runner, launch_steps)
        steps += launch_steps * runner.slots
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            cpu_seconds = time.process_time() - cpu_started
            joules = None if meter is None or before is None else meter.joules() - before
            return Timing(steps, elapsed, cpu_seconds, joules)


def _launch(runner: Runner, steps: int) -> None:
    """Advance every chain by `steps` steps."""
    runner.advance(runner.read_all("step") + np.int64(steps))
