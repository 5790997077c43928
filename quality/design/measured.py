"""A design with measured numbers in place of its own, and a table of where its own were wrong.

Counts of a testbench replace the trips of stages, reports of synthesis tools the initiation intervals, the
clock and the resources. A stage names its loop by `counted`, such as ``propose: count_row``; loops that no
stage names are added as stages of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from syclade.quality.design.model import (
    RESOURCES,
    Component,
    Design,
    LoopReport,
    Parameter,
    Resources,
    Stage,
)
from syclade.quality.design.reports import Count, Measured
from syclade.quality.design.resources import estimate
from syclade.quality.design.throughput import Prediction, predict

__all__ = ["Difference", "KernelSum", "apply_measured", "compare", "kernel_sums", "with_sizes"]

MOST_LINES = 12
"""A loop counts at most so many lines after its own: its pragmas are between."""


@dataclass(frozen=True)
class Difference:
    """A number of a design, and the measured one.

    Attributes:
        what: the stage or the parameter, and which of its numbers.
        preset: the design's number; None if it has none.
        measured: the measured number; None if nothing measured it.
    """

    what: str
    preset: float | None
    measured: float | None

    @property
    def ratio(self) -> float | None:
        """Return measured / preset; None if one is missing or 0."""
        if self.preset is None or self.measured is None or not self.preset:
            return None
        return self.measured / self.preset


@dataclass(frozen=True)
class KernelSum:
    """Cycles of a kernel for one step if its loops follow one another.

    Attributes:
        kernel: its name.
        cycles: the sum over its loops.
    """

    kernel: str
    cycles: float


def with_sizes(design: Design, measured: Measured) -> Design:
    """Return the design for the sizes of the testbench's project, so that both can be compared."""
    if measured.nodes is None or measured.cells is None:
        return design
    values = {"n_max": measured.nodes + design.value("unusable_nodes"), "cells_max": float(measured.cells)}
    if measured.unroll is not None:
        values |= dict.fromkeys(design.project_unroll, float(measured.unroll))
    return design.changed(values, source=f"size of the project in {measured.files[0]}")


def apply_measured(design: Design, measured: Measured) -> Design:
    """Return the design with all that was measured."""
    counts = {f"{one.kernel}: {one.loop}": one for one in measured.counts}
    stages = [_counted(stage, counts.pop(_key(stage), None)) for stage in design.stages]
    for name, count in counts.items():
        own = [at for at, stage in enumerate(stages) if _kernel(stage) == count.kernel]
        at = own[0] if own and count.loop == "receive" else own[-1] + 1 if own else len(stages) - 1
        new = Stage(name, count.kernel, {}, 1, 0.0, False, 1, f"counted in {measured.files[0]}", counted=name)
        stages.insert(at, _counted(new, count))
    stages = [_synthesised(stage, measured) for stage in stages]
    parameters = dict(design.parameters)
    if measured.clock_mhz is not None:
        parameters["clock_mhz"] = Parameter(measured.clock_mhz, "measured", measured.files[-1])
    components = design.components
    if measured.resources is not None:
        components = (_component(design, measured),)
    return dataclasses.replace(design, stages=tuple(stages), parameters=parameters, components=components)


def compare(design: Design, measured: Design) -> list[Difference]:
    """Return the numbers of both designs beside each other: stages, clock, resources.

    Args:
        design: with its own numbers.
        measured: the same with all that was measured.
    """
    before, after = predict(design), predict(measured)
    own = {stage.name: timing.cycles for stage, timing in zip(design.stages, before.stages, strict=True)}
    found = []
    for stage, timing in zip(measured.stages, after.stages, strict=True):
        cycles = None if stage.trips is None else timing.cycles + stage.depth
        found.append(Difference(f"{stage.name}, cycles", own.get(stage.name), cycles))
    found.append(Difference("cycles per step", before.cycles_per_step, after.cycles_per_step))
    found.append(Difference("clock, MHz", design.value("clock_mhz"), _changed_clock(measured)))
    found.append(Difference("ksteps/s", before.ksteps_per_s, after.ksteps_per_s))
    if any(one.kind == "measured" for one in measured.components):
        old_total, new_total = (estimate(each).total.as_dict() for each in (design, measured))
        found += [Difference(name, old_total[name], new_total[name]) for name in RESOURCES]
    return found


def kernel_sums(prediction: Prediction) -> list[KernelSum]:
    """Return each kernel's cycles if its loops follow one another, instead of working on several states."""
    design = prediction.design
    sums: dict[str, float] = {}
    for stage, timing in zip(design.stages, prediction.stages, strict=True):
        kernel = _kernel(stage)
        sums[kernel] = sums.get(kernel, 0.0) + timing.mean_cycles + stage.depth * design.value(stage.share)
    return [KernelSum(kernel, cycles) for kernel, cycles in sums.items()]


def _key(stage: Stage) -> str:
    return stage.counted or f"{stage.kernel}: {stage.name}"


def _kernel(stage: Stage) -> str:
    """Return the name that a testbench has for a stage's kernel."""
    return stage.kernel.lower().replace(" ", "_")


def _counted(stage: Stage, count: Count | None) -> Stage:
    """Return a stage with the trips of its longest loop; the others take time, but no throughput."""
    if count is None:
        return stage
    return dataclasses.replace(stage, trips=count.longest, depth=float(count.iterations - count.longest))


def _synthesised(stage: Stage, measured: Measured) -> Stage:
    """Return a stage with the initiation interval of its loop in a report."""
    loop = stage.counted.partition(": ")[2]
    reports = list(_reports_of(loop, measured)) if loop not in ("", "receive", "send") else []
    return dataclasses.replace(stage, ii=max(one.ii for one in reports)) if reports else stage


def _reports_of(loop: str, measured: Measured) -> Iterator[LoopReport]:
    """Yield the reports of a loop: by its name, or by the line of stages.h that it begins at."""
    yield from (one for one in measured.loops if one.line is None and one.name.endswith(loop))
    line = measured.lines.get(loop)
    if line is not None:
        near = [one for one in measured.loops if one.line is not None and 0 <= line - one.line <= MOST_LINES]
        closest = max((one.line or 0 for one in near), default=0)
        yield from (one for one in near if one.line == closest)


def _component(design: Design, measured: Measured) -> Component:
    assert measured.resources is not None
    static = design.device.static_partition if measured.has_static else Resources()
    parts = {name: max(0.0, getattr(measured.resources, name) - getattr(static, name)) for name in RESOURCES}
    # The design counts each row once for every pipeline; a report has the whole circuit.
    share = dict.fromkeys(RESOURCES, 1 / design.value("replication"))
    name = "as estimated by the compiler" if measured.is_estimate else "as synthesised"
    return Component(name, None, Resources(**parts).times(share), {}, {}, "measured", measured.files[-1])


def _changed_clock(design: Design) -> float | None:
    clock = design.parameters["clock_mhz"]
    return clock.value if clock.kind == "measured" else None
