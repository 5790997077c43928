"""Tables of the measurements, and a plot of the scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syclade.quality.bench.suite import Point
from syclade.quality.figures import new_figure
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["scaling_figure", "scaling_table", "suite_table"]

_SUITE = ("cells x mutations", "device", "encoding", "ksteps/s", "x SCITE", "ns/step/core", "accepted", "MiB")


def suite_table(reports: list[dict[str, Any]]) -> str:
    """Return the suite as a Markdown table."""
    rows = []
    for report in reports:
        times = report["times_scite_core"]
        rows.append(
            (
                f"{report['cells']} x {report['mutations']}",
                report["kind"],
                report["encoding"],
                f"{report['steps_per_second'] / 1e3:.4g}",
                "" if times is None else f"{times:.3g}",
                f"{report['cpu_ns_per_step']:.4g}",
                f"{100 * report['acceptance']:.1f} %",
                f"{report['memory_bytes'] / 2**20:.1f}",
            )
        )
    return text_table(_SUITE, rows)


def scaling_table(points: list[Point]) -> str:
    """Return the scaling as a Markdown table."""
    rows = [
        (
            point.axis,
            str(point.value),
            f"{point.report['steps_per_second'] / 1e3:.4g}",
            f"{point.report['cpu_ns_per_step']:.4g}",
        )
        for point in points
    ]
    return text_table(("varied", "value", "ksteps/s", "ns/step/core"), rows)


def scaling_figure(points: list[Point]) -> Figure:
    """Draw steps per second against each quantity, one panel per quantity, on logarithmic axes."""
    axes = list(dict.fromkeys(point.axis for point in points))
    figure = new_figure(3.2 * len(axes), 3.2)
    panels = [figure.add_subplot(1, len(axes), place + 1) for place in range(len(axes))]
    for panel, axis in zip(panels, axes, strict=True):
        line = [
            (point.value, point.report["steps_per_second"] / 1e6) for point in points if point.axis == axis
        ]
        panel.plot(*zip(*line, strict=True), marker="o")
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xlabel(axis)
        panel.grid(True, which="both", alpha=0.3)
    panels[0].set_ylabel("Msteps/s")
    return figure
