"""Explanation of the gap between measured and modelled throughput, as far as published numbers allow.

Two effects are fitted to a design's published measurements:

- a **loop overhead**: cycles that every loop loses for each state. It is fitted to the largest input, which
  is assumed to run with a full pipeline.
- a **ring depth**: latency in cycles beyond the loops' own cycles. A pipeline with c states in flight takes
  at least round trip / c cycles per step. The depth is fitted to the smallest input, if the overhead alone
  does not explain that measurement.

The remaining measurements test the fit. The measurements determine only the ratio of round trip to states in
flight: the latency may occur anywhere, and fewer states in flight would look the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import Benchmark, Design
from syclade.quality.design.throughput import predict

__all__ = ["Shortfall", "ShortfallRow", "describe_shortfall", "explain_shortfall"]

# Measurements are printed with five or six digits and repeat to some 0.1 %: smaller gaps are no shortfall.
NOTICEABLE = 0.01


@dataclass(frozen=True)
class ShortfallRow:
    """One measurement against the model; throughputs in ksteps/s.

    Attributes:
        cells: cells of the input.
        mutations: mutations of the input.
        modelled: the model with a full pipeline and no overhead.
        measured: the published measurement.
        accuracy: measured over modelled.
        fitted: the model with the fitted overhead and depth.
        role: ``fits the overhead``, ``fits the depth`` or ``test``.
        cycles_per_step: measured cycles per step.
        full_cycles: cycles per step of a full pipeline with the fitted overhead.
        round_trip: fitted round trip of one state in cycles, or None if no latency is detected.
        capacity_needed: states in flight for a full pipeline with that round trip, or None.
    """

    cells: int
    mutations: int
    modelled: float
    measured: float
    accuracy: float
    fitted: float
    role: str
    cycles_per_step: float
    full_cycles: float
    round_trip: float | None
    capacity_needed: int | None


@dataclass(frozen=True)
class Shortfall:
    """The fit of one design.

    Attributes:
        design: the design with the fitted parameters set.
        loop_overhead: cycles per loop and state.
        ring_depth: cycles, or None if the measurements show no latency.
        rows: one row per measurement, largest input first.
    """

    design: Design
    loop_overhead: float
    ring_depth: float | None
    rows: tuple[ShortfallRow, ...]


def explain_shortfall(design: Design) -> Shortfall:
    """Fit loop overhead and ring depth to a design's measurements.

    Raises:
        OptionError: the design has no published measurement.
    """
    measured = [each for each in design.benchmarks if each.measured is not None]
    if not measured:
        raise OptionError(
            f"design {design.name} has no measurements to explain",
            hint="leave out --fitted, or take a published design",
        )
    measured.sort(key=lambda each: (-each.mutations, -each.cells))
    overhead = max(0.0, _cycles(design, measured[0]) - _predicted(design, measured[0]))
    fitted = design.changed({"loop_overhead": overhead}, "fitted to the largest measured input")
    depth = _ring_depth(fitted, measured[-1]) if len(measured) > 1 else None
    if depth is not None:
        fitted = fitted.changed({"ring_depth": depth}, "fitted to the smallest measured input")
    rows = tuple(
        _row(design, fitted, each, _role(index, len(measured), depth is not None), depth is not None)
        for index, each in enumerate(measured)
    )
    return Shortfall(fitted, overhead, depth, rows)


def _cycles(design: Design, benchmark: Benchmark) -> float:
    """Return the measured cycles per step."""
    assert benchmark.measured is not None
    return design.value("replication") * design.value("clock_mhz") * 1e3 / benchmark.measured


def _predicted(design: Design, benchmark: Benchmark) -> float:
    return predict(design, benchmark.cells, benchmark.mutations).cycles_per_step


def _ring_depth(fitted: Design, benchmark: Benchmark) -> float | None:
    cycles = _cycles(fitted, benchmark)
    prediction = predict(fitted, benchmark.cells, benchmark.mutations)
    if cycles < prediction.cycles_per_step * (1 + NOTICEABLE):
        return None
    depth = fitted.value("ring_depth")
    return max(0.0, fitted.capacity * cycles - prediction.round_trip + depth)


def _role(index: int, count: int, latency: bool) -> str:
    if index == 0:
        return "fits the overhead"
    return "fits the depth" if latency and index == count - 1 else "test"


def _row(design: Design, fitted: Design, benchmark: Benchmark, role: str, latency: bool) -> ShortfallRow:
    plain = predict(design, benchmark.cells, benchmark.mutations)
    full = predict(fitted, benchmark.cells, benchmark.mutations)
    measured = benchmark.measured or 0.0
    return ShortfallRow(
        cells=benchmark.cells,
        mutations=benchmark.mutations,
        modelled=plain.ksteps_per_s,
        measured=measured,
        accuracy=measured / plain.ksteps_per_s,
        fitted=full.capacity_ksteps_per_s,
        role=role,
        cycles_per_step=_cycles(design, benchmark),
        full_cycles=full.cycles_per_step,
        round_trip=full.round_trip if latency else None,
        capacity_needed=math.ceil(full.round_trip / full.cycles_per_step) if latency else None,
    )


def describe_shortfall(design: Design, shortfall: Shortfall) -> tuple[str, ...]:
    """Describe the result of the fit and its limits, in sentences."""
    last = shortfall.rows[-1]
    plain = predict(design, last.cells, last.mutations)
    size = f"{last.cells} cells x {last.mutations} mutations"
    lines = [
        f"Measured at {size}: {last.measured:.2f} ksteps/s, {last.accuracy:.1%} of the model "
        f"({last.modelled:.2f}): {last.cycles_per_step:.2f} cycles a step, not {plain.cycles_per_step:g}.",
        f"Each state takes {shortfall.loop_overhead:.1f} cycles more than the bottleneck's trips, "
        "from the largest measured input.",
    ]
    if shortfall.ring_depth is None or last.round_trip is None:
        covered = design.capacity * last.cycles_per_step
        lines.append(
            "That explains every measurement, and no latency shows: "
            f"c = {design.capacity} covers a round trip of {covered:.0f} cycles, the loops' own is "
            f"{plain.round_trip:.0f}."
        )
        return tuple(lines)
    lines += [
        "The published facts alone do not explain the rest: the loops' own round trip is "
        f"{plain.round_trip:.0f} cycles, and c = {design.capacity} covers "
        f"{design.capacity * plain.cycles_per_step:.0f}.",
        f"A round trip of {last.round_trip:.0f} cycles ({shortfall.ring_depth:.0f} of latency) would: then "
        f"c = {last.capacity_needed} fills the pipeline at this input, {last.full_cycles:.2f} cycles a step.",
        "Only round trip over states in flight is fixed: fewer states held at once would look the same.",
    ]
    tests = [row for row in shortfall.rows if row.role == "test"]
    lines += [
        f"Test, not used in the fit: {row.cells} x {row.mutations} fitted {row.fitted:.1f}, measured "
        f"{row.measured:.1f} ksteps/s ({row.fitted / row.measured - 1:+.2%})."
        for row in tests
    ]
    if not tests:
        lines.append("No measurement is left to test this fit: two numbers explain two measurements.")
    return tuple(lines)
