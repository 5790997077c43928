"""Figure of the study of arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from syclade.quality.figures import new_figure
from syclade.quality.studies.arithmetic.steps import StepCost, slope_of
from syclade.quality.studies.arithmetic.table import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["arithmetic_figure"]


def arithmetic_figure(rows: Sequence[Row], costs: Sequence[StepCost]) -> Figure:
    """Draw errors of functions against their cycles, and the time of a step against the mutations."""
    figure = new_figure(9.0, 4.0)
    left, right = figure.subplots(1, 2)
    _draw_errors(left, rows)
    _draw_steps(right, costs)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, which="major", alpha=0.3)
    return figure


def _draw_errors(axes: Axes, rows: Sequence[Row]) -> None:
    for row in rows:
        if row.error is None or row.cycles is None:
            continue
        colour = "#c44e52" if row.name.startswith("syclade") else "#4c72b0"
        axes.plot(row.cycles, row.error, marker="o", color=colour, linestyle="none")
        axes.annotate(row.name, (row.cycles, row.error), (4, 3), textcoords="offset points", fontsize=7)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("cycles per element")
    axes.set_ylabel("largest error, relative or in octaves")


def _draw_steps(axes: Axes, costs: Sequence[StepCost]) -> None:
    mutations = [cost.mutations for cost in costs]
    times = [cost.ns / 1e3 for cost in costs]
    axes.plot(mutations, times, marker="o", color="#c44e52", label=f"measured, ~ n^{slope_of(costs):.2f}")
    for power, style in ((1, "--"), (2, ":")):
        line = [times[0] * (one / mutations[0]) ** power for one in mutations]
        axes.plot(mutations, line, linestyle=style, color="0.5", label=f"n^{power}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(top=times[-1] * 20)
    axes.set_xlabel(f"mutations ({costs[0].cells} cells)")
    axes.set_ylabel("µs a step with doublets, one core")
    axes.legend(frameon=False, fontsize=8)
