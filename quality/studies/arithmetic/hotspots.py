"""The seed's hotspots, each with what stands in its place here and what that costs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from syclade.kernels.sums.rows import ROWS
from syclade.quality.studies.arithmetic.steps import StepCost
from syclade.quality.studies.arithmetic.timing import Cost

__all__ = ["Hotspot", "hotspots"]

ROW_BYTES = 4
PLACES = 2


@dataclass(frozen=True)
class Hotspot:
    """One hotspot.

    Attributes:
        section, name, published: section of the publication, what it is, and what was measured there.
        here: what stands in its place.
        measured: what that costs here, as text with units.
    """

    section: str
    name: str
    published: str
    here: str
    measured: str


def hotspots(step: StepCost, costs: Mapping[str, Cost], cycle: float) -> list[Hotspot]:
    """Return all hotspots of hotspots.toml, with measured costs.

    Args:
        step: cost of the steps of one size.
        costs: cost of single functions, as from `element_costs`.
        cycle: length of a clock cycle in ns.
    """

    def cycles(name: str) -> str:
        return f"{costs[name].median / cycle:.2g} cycles"

    size = f"{step.mutations} mutations x {step.cells} cells"
    visited = f"{step.visits.children:.3g} of {step.mutations} nodes"
    measured = {
        "step": f"{step.ns / 1e3:.3g} us a step at {size}, of which 0 for allocation",
        "visit": f"{step.ns_per_visit / cycle:.2g} cycles per visited node and cell, all of a step "
        f"included; {visited}; {step.ns_per_node / cycle:.2g} cycles per node of the tree and cell",
        "nothing": "0 cycles a step",
        "total": f"{cycles('syclade sum of numbers')} a sum",
        "bytes": f"{ROWS * ROW_BYTES * PLACES} bytes per node and cell, for the tree and its proposal",
        "product": f"{cycles('syclade product of numbers')} a product; "
        f"{cycles('syclade factors')} a factor, once per class and start",
        "logarithm": f"{cycles('syclade logarithm')} a logarithm",
        "pair": f"{step.ns_per_pair / cycle:.2g} cycles per pair of nodes and cell, as if all were visited",
    }
    text = (files("syclade.quality.studies.arithmetic") / "hotspots.toml").read_text(encoding="utf-8")
    return [
        Hotspot(each["section"], each["name"], each["published"], each["here"], measured[each["measured"]])
        for each in tomllib.loads(text)["hotspot"]
    ]
