"""Outcome of the study of the cost of a step: a value with a report, a text and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.quality.figures import Drawn, new_figure
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cost", "StepCosts"]

STEEPEST = {"cells": 1.0, "mutations": 0.5}
"""Largest exponents with which the check holds: at most linear in cells, and in mutations as the depth of a
random tree. A pass over all nodes is linear in both."""


@dataclass(frozen=True)
class Cost:
    """Cost of a step at one size.

    Attributes:
        cells, mutations: the size.
        cpu_ns: processor time of a step in ns: median of the turns.
        turns: that of each turn.
        acceptance: accepted part of the steps.
    """

    cells: int
    mutations: int
    cpu_ns: float
    turns: tuple[float, ...]
    acceptance: float


@dataclass(frozen=True, eq=False, repr=False)
class StepCosts(Drawn):
    """Outcome of `step_cost`.

    Attributes:
        costs: one per size.
        settings: options and versions, as plain values.
        machine: processor and cores.
    """

    costs: tuple[Cost, ...]
    settings: Mapping[str, Any]
    machine: Mapping[str, str | int]

    @cached_property
    def exponents(self) -> dict[str, float]:
        """Exponents of the power law that fits the costs best: of cells and of mutations (least squares)."""
        sizes = np.log([(one.cells, one.mutations, np.e) for one in self.costs])
        fit = np.linalg.lstsq(sizes, np.log([one.cpu_ns for one in self.costs]), rcond=None)[0]
        return {"cells": float(fit[0]), "mutations": float(fit[1])}

    @property
    def holds(self) -> bool:
        """Return whether the cost grows at most as cells, and as the square root of mutations."""
        return all(self.exponents[name] <= most for name, most in STEEPEST.items())

    def __repr__(self) -> str:
        """Return one line with the exponents."""
        listing = ", ".join(f"{name}^{value:.2f}" for name, value in self.exponents.items())
        return f"<StepCosts: as {listing}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in step-cost.json."""
        return {
            "check": "step-cost",
            "holds": self.holds,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "exponents": self.exponents,
            "costs": [asdict(one) for one in self.costs],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text: a table of ns per step, and the exponents."""
        of = {(one.cells, one.mutations): one.cpu_ns for one in self.costs}
        numbers = sorted({one.mutations for one in self.costs})
        rows = [
            [str(cells), *(f"{of[cells, number]:.0f}" for number in numbers)]
            for cells in sorted({one.cells for one in self.costs})
        ]
        heads = ("cells; ns a step", *(f"{number} mutations" for number in numbers))
        listing = ", ".join(f"{name} to the power of {value:.2f}" for name, value in self.exponents.items())
        return [text_table(heads, rows), f"the cost grows as {listing}"]

    def figure(self) -> Figure:
        """Draw the cost over the cells, one line per number of mutations, and over the mutations."""
        figure = new_figure(8.0, 3.8)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, across, along in zip(panels, ("cells", "mutations"), ("mutations", "cells"), strict=True):
            for number in sorted({getattr(one, along) for one in self.costs}):
                own = [one for one in self.costs if getattr(one, along) == number]
                places = [getattr(one, across) for one in own]
                axes.plot(places, [one.cpu_ns for one in own], "o-", markersize=4, label=f"{number} {along}")
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_xlabel(across)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, fontsize=7)
        panels[0].set_ylabel("processor time of a step, ns")
        return figure
