"""Report of the thesis's measurements: a table, and the three panels of figure 4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from syclade.quality.bench.stored import FFSCITE_KSTEPS, STORED_SOURCE
from syclade.quality.bench.thesis import Point, ThesisBench, mean_joules
from syclade.quality.figures import new_figure
from syclade.quality.text_table import text_table
from syclade.quality.work import work_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["thesis_figure", "thesis_table"]

STORED = " (stored)"


def thesis_table(bench: ThesisBench) -> str:
    """Return all points as a Markdown table, with notes below."""
    with_energy = any(mean_joules(point.ours) is not None for point in bench.points)
    heads = ["cells x mutations", "chains", "steps each", "makespan s", "Msteps/s", "SCITE s", "speedup"]
    rows = [_row(point) + (_energy(point) if with_energy else []) for point in bench.points]
    table = text_table(heads + (["joules", "SCITE joules"] if with_energy else []), rows)
    return "\n".join([table, *_notes(bench)])


def _row(point: Point) -> list[str]:
    label = STORED if point.scite_is_stored else ""
    scite, speedup = point.scite_seconds, point.speedup
    return [
        f"{point.cells} x {point.mutations}",
        str(point.chains),
        f"{point.steps:,}",
        f"{point.seconds:.3g}",
        f"{point.total_steps / point.seconds / 1e6:.3g}",
        "not known" if scite is None else f"{scite:.3g}{label}",
        "" if speedup is None else f"{speedup:.3g}",
    ]


def _energy(point: Point) -> list[str]:
    return [
        "" if joules is None else f"{joules:.3g}" for joules in map(mean_joules, (point.ours, point.scite))
    ]


def _notes(bench: ThesisBench) -> Iterator[str]:
    many = "1 run" if bench.runs == 1 else f"means of {bench.runs} runs"
    yield f"{many} on {bench.device} ({bench.device_name}, {bench.encoding})"
    yield f"work done by: {work_text(bench.work)}"
    if bench.scite is None:
        yield f"{STORED_SOURCE}; give --scite PATH to measure SCITE here"
    if bench.energy:
        yield bench.energy


def thesis_figure(bench: ThesisBench) -> Figure:
    """Draw makespan, throughput and speedup against the steps per chain, one row per number of chains.

    As in the thesis's figure 4.1, colours are sizes of the input. Our lines are dashed; SCITE's are solid, or
    dotted if they are stored values.
    """
    counts = list(dict.fromkeys(point.chains for point in bench.points))
    sizes = list(dict.fromkeys((point.cells, point.mutations) for point in bench.points))
    figure = new_figure(9.6, 2.9 * len(counts) + 0.9)
    panels = figure.subplots(len(counts), 3, squeeze=False, sharex=True, sharey="col")
    for row, chains in zip(panels, counts, strict=True):
        for place, size in enumerate(sizes):
            line = [p for p in bench.points if (p.chains, p.cells, p.mutations) == (chains, *size)]
            _draw_size(row, line, f"C{place}")
        row[0].set_ylabel(f"{chains} chains\nmakespan [s]")
        row[1].set_ylabel("throughput [ksteps/s]")
        row[2].set_ylabel("speedup over SCITE")
        row[1].axhline(FFSCITE_KSTEPS, color="0.5", linestyle="-.", linewidth=1)
    for axes in panels[:, :2].flat:
        axes.set_yscale("log")
    for axes in panels[:, 2]:
        axes.set_ylim(bottom=0)
    for axes in panels.flat:
        axes.grid(True, alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("steps of each chain [millions]")
    _legend(figure, sizes, stored=bench.scite is None)
    return figure


def _draw_size(row: list[Axes], line: list[Point], colour: str) -> None:
    """Draw the lines of one size in the three panels."""

    def draw(axes: Axes, value: Callable[[Point], float | None], style: str, marker: str) -> None:
        known = [(point.steps / 1e6, found) for point in line if (found := value(point)) is not None]
        if known:
            axes.plot(*zip(*known, strict=True), color=colour, linestyle=style, marker=marker, markersize=4)

    theirs = "dotted" if line[0].scite_is_stored else "solid"
    draw(row[0], lambda point: point.seconds, "dashed", "o")
    draw(row[0], lambda point: point.scite_seconds, theirs, "")
    draw(row[1], lambda point: point.total_steps / point.seconds / 1e3, "dashed", "o")
    draw(row[1], lambda point: _ratio(point.total_steps / 1e3, point.scite_seconds), theirs, "")
    draw(row[2], lambda point: point.speedup, theirs, "o")


def _ratio(above: float, below: float | None) -> float | None:
    return None if below is None else above / below


def _legend(figure: Figure, sizes: list[tuple[int, int]], *, stored: bool) -> None:
    """Draw a legend of colours and line styles below the panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=f"C{place}", linewidth=4) for place in range(len(sizes))]
    labels = [f"{cells} cells × {mutations} mutations" for cells, mutations in sizes]
    scite = "SCITE, stored (another machine)" if stored else "SCITE"
    handles.append(Line2D([], [], color="black", linestyle="dashed"))
    handles.append(Line2D([], [], color="black", linestyle="dotted" if stored else "solid"))
    labels += ["syclade", scite]
    handles.append(Line2D([], [], color="0.5", linestyle="-."))
    labels.append("ffSCITE on a Stratix 10, stored")
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
