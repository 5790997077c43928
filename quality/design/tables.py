"""Results of the model as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from syclade.host.ground.values import counted
from syclade.quality.design.measured import Difference, KernelSum
from syclade.quality.design.model import RESOURCES, Design
from syclade.quality.design.resources import ResourceEstimate
from syclade.quality.design.shortfall import Shortfall, describe_shortfall
from syclade.quality.design.simulation import Run, UtilisationPoint
from syclade.quality.design.sweep import Point, Sweep
from syclade.quality.design.throughput import Prediction

__all__ = [
    "show_designs",
    "show_measured",
    "show_prediction",
    "show_shortfall",
    "show_simulation",
    "show_sweep",
]


def show_designs(console: Console, designs: Sequence[Design]) -> None:
    """Print one line per design."""
    table = _table("preset", "status", "what it is")
    for design in designs:
        table.add_row(design.name, design.status, design.title)
    console.print(table)


def show_prediction(console: Console, prediction: Prediction, resources: ResourceEstimate) -> None:
    """Print stages, throughput, capacity, resources and assumptions."""
    design = prediction.design
    _show_head(console, prediction)
    table = _table("stage", "kernel", ">trips", ">II", ">cycles/step", ">occupancy")
    for stage in prediction.stages:
        table.add_row(
            stage.name,
            stage.kernel,
            str(stage.trips),
            f"{stage.ii:g}",
            f"{stage.mean_cycles:g}",
            f"{stage.occupancy:.1%}",
        )
    console.print(table)
    console.print(
        f"[bold]{prediction.ksteps_per_s:.2f} ksteps/s[/bold]: {prediction.cycles_per_step:g} cycles a step "
        f"(bottleneck: {prediction.bottleneck}) at {design.value('clock_mhz'):g} MHz"
    )
    console.print(
        f"full from c = {prediction.smallest_capacity} chain states in flight (round trip "
        f"{prediction.round_trip:g} cycles); the design has {design.capacity}: "
        f"{prediction.capacity_ksteps_per_s:.2f} ksteps/s"
    )
    for each in design.benchmarks:
        if (each.cells, each.mutations) == (prediction.cells, prediction.mutations):
            console.print(
                f"published: modelled {each.modelled}, measured {each.measured} ksteps/s ({each.source})"
            )
    _show_resources(console, design, resources)
    for note in design.notes:
        console.print(f"assumption: {note}")


def show_measured(console: Console, differences: Sequence[Difference], sums: Sequence[KernelSum]) -> None:
    """Print the design's own numbers beside measured ones, and the slowest kernel by the sum of its loops."""
    table = _table("number", ">preset", ">measured", ">ratio")
    for one in differences:
        ratio = "" if one.ratio is None else f"{one.ratio:.3g}"
        table.add_row(one.what, _number(one.preset, "none"), _number(one.measured, "not measured"), ratio)
    console.print(table)
    slowest = max(sums, key=lambda one: one.cycles)
    console.print(
        f"if the loops of a kernel follow one another for each state: {slowest.cycles:g} cycles a step "
        f"(bottleneck: {slowest.kernel})"
    )


def _number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:,.6g}" if value < 1e5 else f"{value:,.0f}"


def show_simulation(
    console: Console,
    prediction: Prediction,
    run: Run,
    by_capacity: Sequence[UtilisationPoint],
    by_size: Sequence[tuple[Prediction, Run]],
) -> None:
    """Print one run, and utilisation by slots and input size."""
    _show_head(console, prediction)
    console.print(
        f"[bold]{run.ksteps_per_s:.2f} ksteps/s[/bold] simulated, {run.utilisation:.1%} of the model's "
        f"{prediction.ksteps_per_s:.2f}, with {run.capacity} slots, {run.chains} chains of {run.steps} steps"
    )
    table = _table("stage", ">occupancy")
    for name, share in run.occupancy.items():
        table.add_row(name, f"{share:.1%}")
    console.print(table)
    table = _table(">slots", ">ksteps/s", ">of the model")
    for point in by_capacity:
        table.add_row(str(point.capacity), f"{point.ksteps_per_s:.2f}", f"{point.utilisation:.1%}")
    console.print(table)
    table = _table(">cells", ">mutations", ">model ksteps/s", ">simulated", ">of the model")
    for model, simulated in by_size:
        table.add_row(
            str(model.cells),
            str(model.mutations),
            f"{model.ksteps_per_s:.2f}",
            f"{simulated.ksteps_per_s:.2f}",
            f"{simulated.utilisation:.1%}",
        )
    console.print(table)


def show_shortfall(console: Console, nominal: Design, shortfall: Shortfall) -> None:
    """Print measurements against the model, and an explanation of the difference."""
    table = _table(">cells", ">mutations", ">model", ">measured", ">accuracy", ">fitted", "role in the fit")
    for row in shortfall.rows:
        table.add_row(
            str(row.cells),
            str(row.mutations),
            f"{row.modelled:.2f}",
            f"{row.measured:.2f}",
            f"{row.accuracy:.1%}",
            f"{row.fitted:.2f}",
            row.role,
        )
    console.print(table)
    for line in describe_shortfall(nominal, shortfall):
        console.print(line)


def show_sweep(console: Console, sweep: Sweep, prediction: Prediction) -> None:
    """Print the Pareto front, and the positions of the published designs relative to it."""
    _show_head(console, prediction)
    routable = sum(point.resources.routable for point in sweep.points)
    console.print(f"{len(sweep.points)} variants, {routable} likely to route. The front:")
    front = sweep.front
    swept = front[0].settings if front else {}
    varied = [name for name in swept if len({point.settings[name] for point in front}) > 1]
    table = _table(*(f">{name}" for name in varied), ">c", ">cycles/step", ">ksteps/s", ">logic")
    for point in front:
        table.add_row(*(f"{point.settings[name]:g}" for name in varied), *_front_line(point))
    console.print(table)
    same = ", ".join(f"{name} {value:g}" for name, value in swept.items() if name not in varied)
    if same:
        console.print(f"all of them with {same}")
    for point in sweep.published:
        console.print(
            f"{point.design} as published is {point.verdict} the front: {point.ksteps_per_s:.2f} ksteps/s "
            f"with {point.logic:.1%} of the logic"
        )
    for name in sweep.not_comparable:
        console.print(f"{name} cannot hold this input")
    if sweep.too_small:
        console.print(f"{counted(sweep.too_small, 'variant', 'variants')} left out: too small for this input")


def _show_head(console: Console, prediction: Prediction) -> None:
    design = prediction.design
    console.print(f"[bold]{design.name}[/bold] ({design.status}): {design.title}")
    console.print(f"{prediction.cells} cells x {prediction.mutations} mutations, {design.device.title}")


def _show_resources(console: Console, design: Design, resources: ResourceEstimate) -> None:
    table = _table("resources", *(f">{name.upper()}" for name in RESOURCES), "")
    for row in resources.rows:
        counts = (f"{count:,.0f}" for count in row.resources.as_dict().values())
        table.add_row(row.name, *counts, "estimate" if row.estimated else "")
    used = (f"{part:.1%}" for part in resources.utilisation.as_dict().values())
    table.add_row("[bold]of the device[/bold]", *used, "estimate" if resources.estimated else "")
    console.print(table)
    if not resources.fits:
        console.print("this design does not fit the device")
    elif not resources.routable:
        console.print(f"more than {design.device.logic_limit:.0%} of the logic: hard to route")


def _front_line(point: Point) -> tuple[str, ...]:
    return (
        str(point.prediction.design.capacity),
        f"{point.prediction.cycles_per_step:g}",
        f"{point.ksteps_per_s:.2f}",
        f"{point.logic:.1%}",
    )


def _table(*heads: str) -> Table:
    """Return an empty table; columns whose heads start with ``>`` are right-aligned."""
    table = Table()
    for head in heads:
        table.add_column(head.removeprefix(">"), justify="right" if head.startswith(">") else "left")
    return table
