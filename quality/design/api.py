"""The design model as a function: what `syclade design` predicts for one design at one size."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from syclade.quality.design.measured import (
    Difference,
    KernelSum,
    apply_measured,
    compare,
    kernel_sums,
    with_sizes,
)
from syclade.quality.design.model import Design, Device
from syclade.quality.design.reader import load_design, load_device
from syclade.quality.design.report import measured_report, prediction_report
from syclade.quality.design.reports import read_measured
from syclade.quality.design.resources import ResourceEstimate, estimate
from syclade.quality.design.throughput import Prediction, predict

__all__ = ["DesignResult", "design", "on_card", "predicted", "with_measured"]


@dataclass(frozen=True)
class DesignResult:
    """Prediction of the model.

    Attributes:
        prediction: cycles of each stage, bottleneck, steps per second, chain states that fill the pipeline.
        resources: resources on the card.
        own: the prediction without measurements; None if nothing was measured.
        differences: the design's own numbers beside measured ones; empty if nothing was measured.
        kernels: each kernel's cycles if its loops follow one another; likewise.
    """

    prediction: Prediction
    resources: ResourceEstimate
    own: Prediction | None = None
    differences: tuple[Difference, ...] = ()
    kernels: tuple[KernelSum, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as `syclade design --json` prints it."""
        report = prediction_report(self.prediction, self.resources)
        if self.own is None:
            return report
        return report | {"measured": measured_report(self.differences, self.kernels)}


def design(
    name: str,
    *,
    cells: int | None = None,
    mutations: int | None = None,
    parameters: Mapping[str, float] = MappingProxyType({}),
    without: Sequence[str] = (),
    device: str | None = None,
    measured: Sequence[str | Path] = (),
) -> DesignResult:
    """Predict throughput and resources of a circuit (docs/fpga-model.md). No device is needed.

    Args:
        name: a preset, such as ffscite-64 or syclade-ancestor, or a file ending in .toml.
        cells, mutations: size of the input; the largest by default.
        parameters: parameters of the design to change, by name, such as mapping, replication or n_max.
        without: stages to leave out, with their resources.
        device: another card: its name, or a file ending in .toml.
        measured: files of testbenches and synthesis tools, whose numbers take the place of the design's own.

    Raises:
        OptionError: there is no such design, parameter, stage or card, the input does not fit, or a file
            cannot be used; the error names file and key.
    """
    changed = load_design(name)
    if device is not None:
        changed = on_card(changed, load_device(device))
    for stage in without:
        changed = changed.without(stage)
    if not measured:
        return predicted(changed.changed(parameters), None, cells, mutations)
    return predicted(*with_measured(changed, measured, parameters), cells, mutations)


def on_card(changed: Design, card: Device) -> Design:
    """Return a design on another card, with the same counts of resources."""
    note = f"the design takes the same counts of resources as on {changed.device.title}, one for one"
    return dataclasses.replace(changed, device=card, notes=(*changed.notes, note))


def with_measured(
    changed: Design, files: Sequence[str | Path], parameters: Mapping[str, float]
) -> tuple[Design, Design]:
    """Return a design with measured numbers, and with its own at the same sizes."""
    found = read_measured([Path(file) for file in files])
    own = with_sizes(changed, found).changed(parameters)
    return apply_measured(own, found), own


def predicted(made: Design, own: Design | None, cells: int | None, mutations: int | None) -> DesignResult:
    """Return the result for a design, compared with its own numbers if others were measured."""
    prediction, resources = predict(made, cells, mutations), estimate(made)
    if own is None:
        return DesignResult(prediction, resources)
    differences, sums = tuple(compare(own, made)), tuple(kernel_sums(prediction))
    return DesignResult(prediction, resources, predict(own, cells, mutations), differences, sums)
