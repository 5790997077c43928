"""Cycles per chain step of every stage, the bottleneck, and the chain states that fill the pipeline.

The stages of the macro-pipeline work concurrently on different chain states, so a full pipeline finishes a
step whenever its slowest stage does (thesis, section 4.2):

    cycles(stage) = ii * product over its loops of ceil(trips / unroll) + loop overhead
    steps/s = replication * clock / max over stages of share * cycles

The number of states in flight needed for that is the round trip of one state divided by the bottleneck's
cycles, rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import Design, Stage

__all__ = ["Prediction", "StageTiming", "predict", "round_trip", "stage_cycles"]


@dataclass(frozen=True)
class StageTiming:
    """One stage at one input size.

    Attributes:
        name: name of the stage.
        kernel: name of its kernel.
        trips: trips of its loop for one state.
        ii: cycles between trips.
        cycles: cycles for one state that uses the stage.
        mean_cycles: cycles per step, averaged over states that use the stage and states that do not.
        occupancy: fraction of the time in which it works if the pipeline is full.
    """

    name: str
    kernel: str
    trips: int
    ii: float
    cycles: float
    mean_cycles: float
    occupancy: float


@dataclass(frozen=True)
class Prediction:
    """Prediction of the model for a design at one input size.

    Attributes:
        design: the design.
        cells: cells of the input.
        mutations: mutations of the input.
        stages: one timing per stage, in the order of a step.
        bottleneck: name of the slowest stage; the first of equals.
        cycles_per_step: cycles per step of the bottleneck.
        ksteps_per_s: throughput of the full pipeline, over all replications, in 1000 steps per second.
        round_trip: cycles of one state alone from IO back to IO.
        smallest_capacity: smallest number of chain states in flight that fills the pipeline.
        capacity_ksteps_per_s: throughput with the design's own capacity.
    """

    design: Design
    cells: int
    mutations: int
    stages: tuple[StageTiming, ...]
    bottleneck: str
    cycles_per_step: float
    ksteps_per_s: float
    round_trip: float
    smallest_capacity: int
    capacity_ksteps_per_s: float


def predict(design: Design, cells: int | None = None, mutations: int | None = None) -> Prediction:
    """Predict the throughput for one input size, by default for the largest input.

    Raises:
        OptionError: the design cannot hold the input, or none of its stages takes any time.
    """
    cells, mutations = input_size(design, cells, mutations)
    cycles = [stage_cycles(design, stage, cells, mutations) for stage in design.stages]
    means = [design.value(stage.share) * each for stage, each in zip(design.stages, cycles, strict=True)]
    slowest = max(means, default=0.0)
    if slowest <= 0:
        raise OptionError(f"no stage of design {design.name} takes any time", hint="check ii and share")
    bottleneck = design.stages[means.index(slowest)].name
    timings = tuple(
        StageTiming(
            name=stage.name,
            kernel=stage.kernel,
            trips=_trips(design, stage, cells, mutations),
            ii=design.value(stage.ii),
            cycles=each,
            mean_cycles=mean,
            occupancy=mean / slowest,
        )
        for stage, each, mean in zip(design.stages, cycles, means, strict=True)
    )
    trip = round_trip(design, cells, mutations)
    full = design.value("replication") * design.value("clock_mhz") * 1e3
    return Prediction(
        design=design,
        cells=cells,
        mutations=mutations,
        stages=timings,
        bottleneck=bottleneck,
        cycles_per_step=slowest,
        ksteps_per_s=full / slowest,
        round_trip=trip,
        smallest_capacity=max(1, math.ceil(trip / slowest - 1e-9)),
        capacity_ksteps_per_s=full / max(slowest, trip / design.capacity),
    )


def input_size(design: Design, cells: int | None, mutations: int | None) -> tuple[int, int]:
    """Return the input's cells and mutations, by default the largest numbers.

    Raises:
        OptionError: the design cannot hold the input.
    """
    most_cells, most_mutations = int(design.value("cells_max")), design.nodes_max - 1
    cells = most_cells if cells is None else cells
    mutations = most_mutations if mutations is None else mutations
    if not (1 <= cells <= most_cells and 1 <= mutations <= most_mutations):
        raise OptionError(
            f"design {design.name} cannot hold {cells} cells and {mutations} mutations",
            hint=f"it holds 1 to {most_cells} cells and 1 to {most_mutations} mutations; see --n-max",
        )
    return cells, mutations


def stage_cycles(design: Design, stage: Stage, cells: int, mutations: int) -> float:
    """Return the cycles that a stage works on one state that uses it."""
    overhead = design.value("loop_overhead") if stage.loops else 0.0
    return design.value(stage.ii) * _trips(design, stage, cells, mutations) + overhead


def round_trip(design: Design, cells: int, mutations: int) -> float:
    """Return the cycles of one state alone in the pipeline, from IO back to IO, averaged over steps.

    A stage starts when the previous one is done; a streaming stage starts with the previous one's first word.
    """
    done = first_word = 0.0
    for stage in design.stages:
        cycles = design.value(stage.share) * stage_cycles(design, stage, cells, mutations)
        start = first_word if stage.streams else done
        first_word = start + stage.depth
        done = max(start + cycles, done) + stage.depth
    return done + design.value("ring_depth")


def _trips(design: Design, stage: Stage, cells: int, mutations: int) -> int:
    if stage.trips is not None:
        return stage.trips
    built = design.trips == "capacity"
    nodes = design.nodes_max if built else mutations + 1
    packets = math.ceil(nodes / design.value("rows_per_packet")) + int(design.value("meta_packets"))
    sizes = {
        "nodes": nodes,
        "mutations": nodes - 1,
        "cells": int(design.value("cells_max")) if built else cells,
        "packets": packets,
    }
    trips = 1
    for dimension, factor in stage.loops.items():
        size = sizes.get(dimension, 0) or int(design.value(dimension))
        unroll = size if factor == "all" else design.value(factor)
        trips *= math.ceil(size / unroll)
    return trips
