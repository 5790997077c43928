"""Figure of the study of scaling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import new_figure
from syclade.quality.studies.scaling.published import Speedups

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["scaling_figure"]


def scaling_figure(cases: Sequence[Any], published: Sequence[Speedups], cores: Sequence[int]) -> Figure:
    """Draw speedups over cores, one panel per input size: slots, and one slot that is divided.

    Args:
        cases: `CaseResult` of each size.
        published: speedups of the publication.
        cores: numbers of cores of the model.
    """
    figure = new_figure(3.4 * len(cases), 3.8)
    panels = figure.subplots(1, len(cases), squeeze=False)[0]
    for axes, each in zip(panels, cases, strict=True):
        axes.plot(cores, cores, color="0.85", linewidth=1, zorder=0)
        _draw_model(axes, each, cores)
        for table, style in zip(published, ("s", "^"), strict=False):
            axes.plot(
                table.cores,
                table.row(1),
                style,
                color="0.6",
                markersize=4,
                label=f"∞SCITE, 1 task, {table.name.split(',')[0]} (stored)",
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlabel("cores")
        axes.set_title(each.case.name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("speedup")
    panels[0].legend(frameon=False, fontsize=6)
    return figure


def _draw_model(axes: Axes, each: Any, cores: Sequence[int]) -> None:
    axes.plot(cores, [each.model.slots(n) for n in cores], "--", color="#c44e52", label="slots (model)")
    axes.plot(
        cores,
        [each.model.divided(n) for n in cores],
        "--",
        color="#4c72b0",
        label="one slot divided (model, no waiting)",
    )
    threads = [speed.run.threads for speed in each.speeds]
    measured = [n * each.efficiency(speed) for n, speed in zip(threads, each.speeds, strict=True)]
    axes.plot(threads, measured, "o", color="#c44e52", label="slots (measured, processor time)")
