"""What the measurements look like: tables for the terminal and a plot of the scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syclade.quality.bench.suite import Point
from syclade.quality.figures import new_figure, write_figure

__all__ = ["plot_scaling", "scaling_table", "suite_table"]

_SUITE = ("cells x mutations", "device", "encoding", "ksteps/s", "x SCITE", "ns/step/core", "accepted", "MiB")


def suite_table(reports: list[dict[str, Any]]) -> str:
    """The suite as a table in Markdown."""
    lines = ["| " + " | ".join(_SUITE) + " |", "|" + "---|" * len(_SUITE)]
    for report in reports:
        times = report["times_scite_core"]
        row = (
            f"{report['cells']} x {report['mutations']}",
            report["kind"],
            report["encoding"],
            f"{report['steps_per_second'] / 1e3:.4g}",
            "" if times is None else f"{times:.3g}",
            f"{report['cpu_ns_per_step']:.4g}",
            f"{100 * report['acceptance']:.1f} %",
            f"{report['memory_bytes'] / 2**20:.1f}",
        )
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def scaling_table(points: list[Point]) -> str:
    """The scaling as a table in Markdown."""
    lines = ["| varied | value | ksteps/s | ns/step/core |", "|---|---|---|---|"]
    for point in points:
        speed = point.report["steps_per_second"] / 1e3
        lines.append(
            f"| {point.axis} | {point.value} | {speed:.4g} | {point.report['cpu_ns_per_step']:.4g} |"
        )
    return "\n".join(lines)


def plot_scaling(points: list[Point], path: Path) -> None:
    """Steps per second against each quantity, one panel each, on logarithmic axes.

    Raises:
        OutputError: the plot cannot be written.
    """
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
    write_figure(figure, path)
