"""Build the exported projects from empty folders, compare their states with chains, let stages overlap."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import syclade
from syclade.host.commands.export.hls.opencl_device import read_vectors
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.bench.machine import machine
from syclade.quality.bench.measure import versions
from syclade.quality.studies.pipeline.projects import FLAVOURS, Project, break_stage
from syclade.quality.studies.pipeline.result import Built, Pipelines
from syclade.quality.work import Progress, without_warnings

__all__ = ["NODES", "STATES", "pipelines"]

NODES = (16, 64, 96)
STATES = (1, 6, 24)
MOST_STATES = 64
FP_RATE, FN_RATE = 0.01, 0.2
_RATES = {"fp_rate": FP_RATE, "fn_rate": FN_RATE}
_SMALL: dict[str, Any] = {"cells": 6, "mutations": 5, "unroll": 2}


class Settings(NamedTuple):
    """Settings of all projects; as for `pipelines`."""

    states: Sequence[int]
    steps: int
    turns: int
    headers: Path | None
    seed: int


def pipelines(
    *,
    nodes: Sequence[int] = NODES,
    flavours: Sequence[str] = FLAVOURS,
    states: Sequence[int] = STATES,
    steps: int = 200,
    turns: int = 5,
    headers: Path | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> Pipelines:
    """Export, build and run projects, compare their states with chains, and break one stage of each flavour.

    Args:
        nodes: sizes of the trees, root included; the matrices have as many cells.
        flavours: of FLAVOURS.
        states: numbers of chain states in flight; the first is compared with the others.
        steps: steps of each chain, of which there are twice as many as states.
        turns: runs with each number of states, in turns: other load on the machine meets all of them.
        headers: folder with AMD's headers, for vitis; None for stand-ins.
        seed: seed of the inputs and of the chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: a project does not build, or a run does not end.
        DeviceError: the emulator cannot run.
    """
    given = Settings(states, steps, turns, headers, seed)
    tasks = [(flavour, size) for flavour in flavours for size in nodes]
    built, wrong, endless = [], {}, {}
    with tempfile.TemporaryDirectory(prefix="syclade-") as made:
        folder = Path(made)
        for at, (flavour, size) in enumerate(tasks):
            if progress is not None:
                progress(f"{flavour}, {size} nodes", at, len(tasks) + len(flavours))
            built.append(_one(folder / f"{flavour}-{size}", flavour, size, given))
        for at, flavour in enumerate(flavours):
            if progress is not None:
                progress(f"{flavour}, controls", len(tasks) + at, len(tasks) + len(flavours))
            endless[flavour] = _runs_that_end(folder / f"many-{flavour}", flavour, given)
            wrong[flavour] = _noticed(folder / f"broken-{flavour}", flavour, given)
    settings = {"states": list(states), "steps": steps, "turns": turns, "seed": seed, "versions": versions()}
    settings["headers"] = "stand-ins" if headers is None else "AMD's"
    return Pipelines(tuple(built), endless, wrong, settings, machine())


def _one(folder: Path, flavour: str, size: int, settings: Settings) -> Built:
    """Export, build and run one project."""
    states, chains = settings.states, 2 * max(settings.states)
    matrix = syclade.simulate(
        cells=size, mutations=size - 1, fp_rate=FP_RATE, fn_rate=FN_RATE, missing=0.1, seed=settings.seed
    ).matrix
    given: dict[str, Any] = {"chains": chains, "steps": settings.steps, "seed": settings.seed, **_RATES}
    project = Project.exported(flavour, folder, settings.headers, matrix=matrix, states=max(states), **given)
    seconds = project.build()
    runs = project.run([*states] * settings.turns)["runs"]
    traced = project.run(states, trace=True)["runs"]
    with without_warnings():
        found = syclade.infer(
            matrix, encoding="ancestor", device="native", method="chain", support="none", **given
        )
    vectors = read_vectors(project.folder / "vectors.bin")
    to_nats = make_problem(matrix, Rates(FP_RATE, FN_RATE)).to_nats
    ends = [to_nats(int(score)) for score in vectors["expected_best_score"]]
    return Built(
        flavour,
        size,
        seconds,
        as_expected=all(one["as_expected"] for one in (*runs, *traced)),
        as_chains=ends == found.chain_log_likelihoods.tolist(),
        steps=chains * settings.steps * (len(runs) + len(traced)),
        rates={
            count: tuple(one["steps_per_second"] for one in runs if one["states"] == count)
            for count in states
        },
        at_once={one["states"]: (one["stages_at_once"], one["most_stages_at_once"]) for one in traced},
    )


def _runs_that_end(folder: Path, flavour: str, settings: Settings) -> int:
    """Return how many of 1 to 64 states in flight end with the expected states; a standstill is an error."""
    given: dict[str, Any] = {**_SMALL, "chains": MOST_STATES + 2, "steps": 5, "states": MOST_STATES}
    project = Project.exported(flavour, folder, settings.headers, seed=settings.seed, **given)
    project.build(optimised=False)
    return sum(one["as_expected"] for one in project.run(range(1, MOST_STATES + 1), timeout=120.0)["runs"])


def _noticed(folder: Path, flavour: str, settings: Settings) -> bool:
    """Return whether the testbench notices a stage with an error."""
    given: dict[str, Any] = {**_SMALL, "states": 3, "steps": 40}
    project = Project.exported(flavour, folder, settings.headers, seed=settings.seed, **given)
    break_stage(project)
    project.build(optimised=False)
    return not project.run([1, 3])["as_expected"]
