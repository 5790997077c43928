"""Sweeps over a design's parameters, and the Pareto front of throughput against logic."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from syclade.host.ground.errors import OptionError, OutputError
from syclade.quality.design.model import RESOURCES, Design
from syclade.quality.design.reader import load_design, preset_names
from syclade.quality.design.resources import ResourceEstimate, estimate
from syclade.quality.design.throughput import Prediction, predict

__all__ = ["Point", "Sweep", "run_sweep", "write_csv"]

MOST_POINTS = 20_000


@dataclass(frozen=True)
class Point:
    """One variant of a design.

    Attributes:
        design: name of the design.
        settings: the swept parameters; empty for a published design.
        prediction: its predicted throughput.
        resources: its estimated resources.
        verdict: a variant is ``on`` the front if no routable variant beats it, else ``behind`` it, or
            ``not routable``. A published design is ``behind`` the front if a routable variant beats it,
            ``on`` if one equals it, else ``beyond``.
    """

    design: str
    settings: Mapping[str, float]
    prediction: Prediction
    resources: ResourceEstimate
    verdict: str = ""

    @property
    def ksteps_per_s(self) -> float:
        """Throughput in 1000 steps per second."""
        return self.prediction.capacity_ksteps_per_s

    @property
    def logic(self) -> float:
        """Fraction of the device's look-up tables."""
        return self.resources.utilisation.luts


@dataclass(frozen=True)
class Sweep:
    """All variants at one input size.

    Attributes:
        points: the variants of the swept design.
        published: the published designs that hold the input, unchanged.
        too_small: number of variants left out because they cannot hold the input.
        not_comparable: published designs that cannot hold the input.
    """

    points: tuple[Point, ...]
    published: tuple[Point, ...]
    too_small: int
    not_comparable: tuple[str, ...]

    @property
    def front(self) -> tuple[Point, ...]:
        """Pareto front of the variants, by ascending logic; the first of equal variants."""
        unique: dict[tuple[float, float], Point] = {}
        for point in self.points:
            if point.verdict == "on":
                unique.setdefault((point.logic, point.ksteps_per_s), point)
        return tuple(sorted(unique.values(), key=lambda point: point.logic))


def run_sweep(
    design: Design,
    axes: Mapping[str, Sequence[float]],
    cells: int | None = None,
    mutations: int | None = None,
) -> Sweep:
    """Evaluate every combination of the axes' values, and the published designs, at one input size.

    Unless the capacity is an axis, each variant gets the smallest capacity that fills its pipeline.

    Args:
        design: the design to vary.
        axes: values by parameter.
        cells: cells of the input; by default the most that the design holds.
        mutations: mutations of the input; likewise.

    Raises:
        OptionError: a parameter is unknown, there are no axes, or too many combinations.
    """
    count = math.prod(len(values) for values in axes.values())
    if not axes or count == 0:
        raise OptionError(
            f"nothing to sweep in design {design.name}", hint="name a parameter: --over mapping=8,16"
        )
    if count > MOST_POINTS:
        raise OptionError(f"{count} combinations are too many", hint=f"at most {MOST_POINTS}")
    size = predict(design, cells, mutations)
    points, too_small = [], 0
    for values in itertools.product(*axes.values()):
        settings = dict(zip(axes, values, strict=True))
        variant = design.changed(settings)
        if not _holds(variant, size.cells, size.mutations):
            too_small += 1
            continue
        if "capacity" not in axes:
            fill = predict(variant, size.cells, size.mutations).smallest_capacity
            variant = variant.changed({"capacity": fill}, "fills the pipeline")
        points.append(_point(variant, settings, size))
    published, absent = _published(size)
    return Sweep(_judge_variants(points), _judge_published(published, points), too_small, tuple(absent))


def write_csv(sweep: Sweep, path: Path) -> None:
    """Write one line per point: settings, throughput, resources as fractions of the device, and verdict.

    Raises:
        OutputError: the file cannot be written.
    """
    swept = list(dict.fromkeys(name for point in sweep.points for name in point.settings))
    head = [
        "design",
        *swept,
        "cells",
        "mutations",
        "capacity",
        "bottleneck",
        "cycles_per_step",
        "ksteps_per_s",
    ]
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*head, *RESOURCES, "fits", "routable", "front"])
            for point in (*sweep.points, *sweep.published):
                writer.writerow(_line(point, swept))
    except OSError as error:
        raise OutputError(f"cannot write the sweep to {path}: {error}") from error


def _line(point: Point, swept: Iterable[str]) -> list[object]:
    prediction, resources = point.prediction, point.resources
    return [
        point.design,
        *(
            f"{prediction.design.value(name):g}" if name in prediction.design.parameters else ""
            for name in swept
        ),
        prediction.cells,
        prediction.mutations,
        prediction.design.capacity,
        prediction.bottleneck,
        f"{prediction.cycles_per_step:g}",
        f"{point.ksteps_per_s:.2f}",
        *(f"{part:.4f}" for part in resources.utilisation.as_dict().values()),
        resources.fits,
        resources.routable,
        point.verdict,
    ]


def _holds(design: Design, cells: int, mutations: int) -> bool:
    return mutations < design.nodes_max and cells <= design.value("cells_max")


def _point(design: Design, settings: Mapping[str, float], size: Prediction) -> Point:
    return Point(design.name, settings, predict(design, size.cells, size.mutations), estimate(design))


def _published(size: Prediction) -> tuple[list[Point], list[str]]:
    """Return the published designs that hold the input, and the names of those that do not."""
    designs = [load_design(name) for name in preset_names()]
    designs = [design for design in designs if design.status == "published"]
    points = [_point(each, {}, size) for each in designs if _holds(each, size.cells, size.mutations)]
    absent = [each.name for each in designs if not _holds(each, size.cells, size.mutations)]
    return points, absent


def _beats(one: Point, other: Point) -> bool:
    """Return whether `one` is at least as fast with at most as much logic, and better in one of the two."""
    equal = one.ksteps_per_s == other.ksteps_per_s and one.logic == other.logic
    return one.ksteps_per_s >= other.ksteps_per_s and one.logic <= other.logic and not equal


def _judge_variants(points: Sequence[Point]) -> tuple[Point, ...]:
    routable = [point for point in points if point.resources.routable]
    # By logic, then speed: a point is on the front iff it is faster than all before it, or equals the last.
    front: list[Point] = []
    for point in sorted(routable, key=lambda each: (each.logic, -each.ksteps_per_s)):
        if not front or not _beats(front[-1], point):
            front.append(point)
    places = {(point.logic, point.ksteps_per_s) for point in front}
    judged = []
    for point in points:
        verdict = "on" if (point.logic, point.ksteps_per_s) in places else "behind"
        judged.append(
            dataclasses.replace(point, verdict=verdict if point.resources.routable else "not routable")
        )
    return tuple(judged)


def _judge_published(published: Sequence[Point], variants: Sequence[Point]) -> tuple[Point, ...]:
    routable = [point for point in variants if point.resources.routable]
    judged = []
    for point in published:
        beaten = any(_beats(variant, point) and not _equal(variant, point) for variant in routable)
        met = any(_equal(variant, point) for variant in routable)
        verdict = "behind" if beaten else "on" if met else "beyond"
        judged.append(dataclasses.replace(point, verdict=verdict))
    return tuple(judged)


def _equal(one: Point, other: Point) -> bool:
    """Return whether two points are equal within 0.1 %, the precision of the published numbers."""
    return math.isclose(one.ksteps_per_s, other.ksteps_per_s, rel_tol=1e-3) and math.isclose(
        one.logic, other.logic, rel_tol=1e-3
    )
