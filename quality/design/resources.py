"""Resources of a design: the published table, scaled to the design's parameters.

Each row of the table grows as a power of the parameters that replicate or widen its logic. The exponents are
data in the design's file. Rows that are scaled or assumed are marked as estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from syclade.quality.design.model import RESOURCES, Component, Design, Resources

__all__ = ["ResourceEstimate", "ResourceRow", "estimate"]

STATIC_PARTITION = "static partition"


@dataclass(frozen=True)
class ResourceRow:
    """One row of the table: counts, and whether they are an estimate rather than the published numbers."""

    name: str
    resources: Resources
    estimated: bool
    source: str


@dataclass(frozen=True)
class ResourceEstimate:
    """Resources of a whole design.

    Attributes:
        rows: the table, with the board's static partition first.
        total: sum of the rows, as counts.
        utilisation: sum of the rows, as fractions of the device.
        estimated: whether any row is an estimate.
        fits: whether every kind fits the device.
        routable: whether it fits and uses no more logic than designs that route well.
    """

    rows: tuple[ResourceRow, ...]
    total: Resources
    utilisation: Resources
    estimated: bool
    fits: bool
    routable: bool


def estimate(design: Design) -> ResourceEstimate:
    """Estimate the design's resources; every row but the static partition counts once per replication."""
    device = design.device
    rows = [ResourceRow(STATIC_PARTITION, device.static_partition, False, device.source)]
    rows += [_row(design, component) for component in design.components]
    total = sum((row.resources for row in rows), Resources())
    used = total.relative_to(device.available)
    fits = all(part <= 1 for part in used.as_dict().values())
    return ResourceEstimate(
        rows=tuple(rows),
        total=total,
        utilisation=used,
        estimated=any(row.estimated for row in rows),
        fits=fits,
        routable=fits and used.luts <= device.logic_limit,
    )


def _row(design: Design, component: Component) -> ResourceRow:
    replication = design.value("replication")
    factors = dict.fromkeys(RESOURCES, replication)
    for parameter, exponents in component.scale.items():
        ratio = design.value(parameter) / component.reference[parameter]
        factors = {name: factor * math.pow(ratio, exponents[name]) for name, factor in factors.items()}
    scaled = any(factor != 1 for factor in factors.values())
    resources = component.resources.times(factors)
    return ResourceRow(component.name, resources, scaled or component.kind == "assumed", component.source)
