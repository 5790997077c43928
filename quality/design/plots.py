"""Figures of the design model; matplotlib (extra ``quality``) is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.ground.errors import OptionError, OutputError
from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.model import Design
from syclade.quality.design.simulation import Run, UtilisationPoint
from syclade.quality.design.sweep import Point, Sweep
from syclade.quality.design.throughput import Prediction
from syclade.quality.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_column_units", "plot_front", "plot_simulation", "plot_stages"]

# Right end of the axis in percent of the device; variants far beyond it would squeeze the others.
MOST_LOGIC = 120.0


def plot_front(sweep: Sweep, path: Path) -> None:
    """Plot throughput against logic: all variants, the Pareto front, and the published designs by name.

    Raises:
        OptionError: matplotlib is missing, or does not support the file's suffix.
        OutputError: the file cannot be written.
    """
    figure, (axes,) = _figure(1, (7, 5))
    unlikely = [point for point in sweep.points if not point.resources.routable]
    likely = [point for point in sweep.points if point.resources.routable]
    _scatter(axes, unlikely, "variant, too much logic or RAM", marker="x", color="0.7")
    _scatter(axes, likely, "variant", marker=".", color="C0")
    front = sweep.front
    axes.plot(
        [point.logic * 100 for point in front],
        [_msteps(point) for point in front],
        color="C1",
        drawstyle="steps-post",
        label="front",
    )
    _scatter(axes, sweep.published, "published design", marker="D", color="C3")
    for index, point in enumerate(sweep.published):
        # Names alternate above and below the points, so that neighbours do not overlap.
        place = (5, -13) if index % 2 else (5, 6)
        axes.annotate(point.design, (point.logic * 100, _msteps(point)), place, textcoords="offset points")
    if sweep.points:
        limit = sweep.points[0].prediction.design.device.logic_limit
        axes.axvline(limit * 100, color="0.5", linestyle=":", label="hard to route beyond")
    axes.set_xlabel("look-up tables used [%]")
    axes.set_ylabel("throughput [Msteps/s]")
    axes.set_yscale("log")
    axes.set_xlim(right=min(axes.get_xlim()[1], MOST_LOGIC))
    axes.legend(loc="upper left")
    _save(figure, path)


def plot_simulation(design: Design, run: Run, points: Sequence[UtilisationPoint], path: Path) -> None:
    """Plot the stages over time, coloured by slot, above utilisation against states in flight.

    Raises:
        OptionError: matplotlib is missing, or does not support the file's suffix.
        OutputError: the file cannot be written.
    """
    figure, (above, below) = _figure(2, (9, 7))
    names = [stage.name for stage in design.stages]
    for interval in run.timeline:
        bar = (interval.start, interval.end - interval.start)
        colour = f"C{interval.slot % 10}"
        above.broken_barh([bar], (names.index(interval.stage) - 0.4, 0.8), facecolors=colour)
    above.set_yticks(range(len(names)), names)
    above.invert_yaxis()
    above.set_xlabel(f"cycles; one colour a slot, {run.capacity} slots")
    above.set_title(f"{design.name}: stages over time")
    below.plot(
        [point.capacity for point in points], [point.utilisation * 100 for point in points], marker="o"
    )
    below.axvline(run.capacity, color="0.5", linestyle=":", label=f"c = {run.capacity}")
    below.set_xlabel("chain states in flight, c")
    below.set_ylabel("throughput of the full pipeline [%]")
    below.set_ylim(0, 105)
    below.set_xscale("log", base=2)
    below.legend(loc="upper left")
    _save(figure, path)


def plot_stages(prediction: Prediction, own: Prediction | None, path: Path) -> None:
    """Plot the cycles per step of each stage as bars, the first stage at the top.

    Args:
        prediction: the bars.
        own: what the design itself predicts, drawn beside measured cycles; None if nothing was measured.
        path: the figure.

    Raises:
        OptionError, OutputError: as for `plot_front`.
    """
    names = [stage.name for stage in prediction.stages]
    figure, (axes,) = _figure(1, (7, 0.4 * len(names) + 1.5))
    height = 0.8 if own is None else 0.4
    cycles = [stage.mean_cycles for stage in prediction.stages]
    if own is not None:
        mine = {stage.name: stage.mean_cycles for stage in own.stages}
        beside = [mine.get(name, 0.0) for name in names]
        axes.barh([row - height for row in range(len(names))], beside, height, align="edge", label="design")
    axes.barh(range(len(names)), cycles, height, align="center" if own is None else "edge", label="measured")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("cycles per step")
    axes.set_title(f"{prediction.design.name}, {prediction.cells} x {prediction.mutations}")
    if own is not None:
        axes.legend()
    _save(figure, path)


def plot_column_units(designs: Sequence[ColumnDesign], cell_ns: float, path: Path) -> None:
    """Plot the speedup of all units of each design over one thread of the processor, by K.

    Args:
        designs: with their units.
        cell_ns: time of an entry on the processor.
        path: the figure.

    Raises:
        OptionError, OutputError: as for `plot_front`.
    """
    figure, (axes,) = _figure(1, (7, 5))
    for design in designs:
        fitting = [k for k in (2**power for power in range(4, 17)) if design.fits(k)]
        speedups = [design.units * design.speedup(k, cell_ns) for k in fitting]
        axes.plot(fitting, speedups, marker=".", label=f"{design.name}, {design.units} units")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("K")
    axes.set_ylabel("speedup of all units over one thread")
    axes.legend(loc="upper left")
    _save(figure, path)


def _figure(rows: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, one below the other; it uses no window system."""
    figure = new_figure(*size)
    return figure, [figure.add_subplot(rows, 1, row + 1) for row in range(rows)]


def _scatter(axes: Axes, points: Sequence[Point], label: str, *, marker: str, color: str) -> None:
    if points:
        logic = [point.logic * 100 for point in points]
        axes.scatter(logic, [_msteps(point) for point in points], marker=marker, color=color, label=label)


def _msteps(point: Point) -> float:
    return point.ksteps_per_s / 1000


def _save(figure: Figure, path: Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise OptionError(
            f"cannot draw {path}: {error}", hint="end the name in .png, .svg or .pdf"
        ) from error
    except OSError as error:
        raise OutputError(f"cannot write the figure to {path}: {error}") from error
