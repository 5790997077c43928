"""Results of the model as plain values, for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from syclade.quality.design.measured import Difference, KernelSum
from syclade.quality.design.model import Design
from syclade.quality.design.resources import ResourceEstimate
from syclade.quality.design.shortfall import Shortfall, describe_shortfall
from syclade.quality.design.simulation import Run, UtilisationPoint
from syclade.quality.design.sweep import Point, Sweep
from syclade.quality.design.throughput import Prediction

__all__ = ["measured_report", "prediction_report", "simulation_report", "sweep_report"]


def prediction_report(prediction: Prediction, resources: ResourceEstimate) -> dict[str, Any]:
    """Return throughput and resources of one design at one input size."""
    design = prediction.design
    return {
        **_head(prediction),
        "cycles_per_step": prediction.cycles_per_step,
        "bottleneck": prediction.bottleneck,
        "ksteps_per_s": prediction.ksteps_per_s,
        "stages": [dataclasses.asdict(stage) for stage in prediction.stages],
        "capacity": {
            "chain_states": design.capacity,
            "smallest": prediction.smallest_capacity,
            "round_trip_cycles": prediction.round_trip,
            "ksteps_per_s": prediction.capacity_ksteps_per_s,
        },
        "resources": _resources(resources),
        "published": _published(design),
        "parameters": {name: dataclasses.asdict(each) for name, each in design.parameters.items()},
        "assumptions": list(design.notes),
    }


def measured_report(differences: Sequence[Difference], sums: Sequence[KernelSum]) -> dict[str, Any]:
    """Return where the design's own numbers differ from measured ones, and the cycles of whole kernels."""
    return {
        "differences": [dataclasses.asdict(one) | {"ratio": one.ratio} for one in differences],
        "cycles_if_loops_follow_one_another": {one.kernel: one.cycles for one in sums},
    }


def simulation_report(
    prediction: Prediction,
    run: Run,
    by_capacity: Sequence[UtilisationPoint],
    by_size: Sequence[tuple[Prediction, Run]],
    shortfall: Shortfall | None,
    nominal: Design,
) -> dict[str, Any]:
    """Return a simulated run, utilisation by slots and input size, and the fit to measurements, if any."""
    report = {
        **_head(prediction),
        "model_ksteps_per_s": prediction.ksteps_per_s,
        "model_cycles_per_step": prediction.cycles_per_step,
        "smallest_capacity": prediction.smallest_capacity,
        "round_trip_cycles": prediction.round_trip,
        "run": {
            key: value
            for key, value in dataclasses.asdict(run).items()
            if key not in ("timeline", "finished")
        },
        "utilisation_by_capacity": [dataclasses.asdict(point) for point in by_capacity],
        "utilisation_by_size": [
            {
                "cells": model.cells,
                "mutations": model.mutations,
                "model_ksteps_per_s": model.ksteps_per_s,
                "ksteps_per_s": simulated.ksteps_per_s,
                "utilisation": simulated.utilisation,
            }
            for model, simulated in by_size
        ],
    }
    if shortfall is not None:
        report["shortfall"] = {
            "loop_overhead_cycles": shortfall.loop_overhead,
            "ring_depth_cycles": shortfall.ring_depth,
            "measurements": [dataclasses.asdict(row) for row in shortfall.rows],
            "verdict": list(describe_shortfall(nominal, shortfall)),
        }
    return report


def sweep_report(sweep: Sweep, prediction: Prediction) -> dict[str, Any]:
    """Return all points of a sweep, and those on the front."""
    return {
        **_head(prediction),
        "variants": [_point(point) for point in sweep.points],
        "published_designs": [_point(point) for point in sweep.published],
        "too_small_for_the_input": sweep.too_small,
        "published_but_too_small": list(sweep.not_comparable),
        "front": [_point(point) for point in sweep.front],
        "published_on_front": [point.design for point in sweep.published if point.verdict == "on"],
    }


def _head(prediction: Prediction) -> dict[str, Any]:
    design = prediction.design
    return {
        "design": design.name,
        "title": design.title,
        "status": design.status,
        "device": design.device.title,
        "cells": prediction.cells,
        "mutations": prediction.mutations,
        "clock_mhz": design.value("clock_mhz"),
    }


def _resources(estimate: ResourceEstimate) -> dict[str, Any]:
    return {
        "estimate": estimate.estimated,
        "fits": estimate.fits,
        "routable": estimate.routable,
        "total": estimate.total.as_dict(),
        "utilisation": estimate.utilisation.as_dict(),
        "rows": [
            {"name": row.name, "estimate": row.estimated, "source": row.source, **row.resources.as_dict()}
            for row in estimate.rows
        ],
    }


def _published(design: Design) -> list[dict[str, Any]]:
    return [dataclasses.asdict(benchmark) for benchmark in design.benchmarks]


def _point(point: Point) -> dict[str, Any]:
    return {
        "design": point.design,
        "settings": dict(point.settings),
        "capacity": point.prediction.design.capacity,
        "bottleneck": point.prediction.bottleneck,
        "cycles_per_step": point.prediction.cycles_per_step,
        "ksteps_per_s": point.ksteps_per_s,
        "utilisation": point.resources.utilisation.as_dict(),
        "fits": point.resources.fits,
        "routable": point.resources.routable,
        "front": point.verdict,
    }
