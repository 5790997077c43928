"""``syclade design``: predict throughput, resources and pipeline of a circuit with the model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.quality.cli import column_units

if TYPE_CHECKING:
    from rich.console import Console

    from syclade.quality.design.model import Design
    from syclade.quality.design.simulation import Run
    from syclade.quality.design.throughput import Prediction

__all__ = ["command"]

POSITIVE = click.IntRange(min=1)
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)
# Round trips in the timeline: enough to show how the pipeline fills, and some rounds of the slots after that.
TIMELINE_ROUNDS = 3
PIPE_WIDTH = 120


@dataclass(frozen=True)
class _Task:
    """Options of one run, with the user's changes applied to the design.

    Attributes:
        design: the changed design.
        published: the design before any change or fit.
        cells: cells of the input, or None for the largest number.
        mutations: mutations of the input, or None for the largest number.
        as_json: print JSON instead of tables.
        own: with `--measured`, the design with its own numbers at the same sizes; else None.
    """

    design: Design
    published: Design
    cells: int | None
    mutations: int | None
    as_json: bool
    own: Design | None = None


@click.command("design")
@click.argument("design", metavar="[PRESET|FILE.toml]", required=False)
@click.option("--cells", type=POSITIVE, help="Cells of the input; the most by default.")
@click.option("--mutations", type=POSITIVE, help="Mutations of the input; the most by default.")
@click.option(
    "--measured",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take what a testbench counted, or a synthesis tool reports, in place of the design's own numbers; "
    "may be repeated.",
)
@click.option("--device", metavar="NAME|FILE.toml", help="Another card: a name, or a file of your own.")
@click.option("--clock-mhz", type=float, help="Clock in MHz.")
@click.option("--n-max", type=POSITIVE, help="Tree nodes, and cells, the design is built for.")
@click.option(
    "--unroll", multiple=True, metavar="[LOOP=]K", help="Unroll factor; of 'mapping' without a name."
)
@click.option("--rows-per-packet", type=POSITIVE, help="Matrix rows sent at once between kernels.")
@click.option("--proposer-ii", type=POSITIVE, help="Initiation interval of the change proposer.")
@click.option("--replication", type=POSITIVE, help="Number of pipelines.")
@click.option("--capacity", type=POSITIVE, help="Chain states in flight, c.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any parameter of the design.")
@click.option("--without", multiple=True, metavar="STAGE", help="Leave out a stage and its resources.")
@click.option("--sweep", is_flag=True, help="Vary the parameters in the preset's [sweep].")
@click.option(
    "--over", multiple=True, metavar="NAME=V1,V2,…", help="Vary this parameter (in place of [sweep])."
)
@click.option("--csv", "csv_file", type=OUTPUT_FILE, metavar="FILE", help="Write the sweep's points as CSV.")
@click.option("--simulate", is_flag=True, help="Simulate the pipeline.")
@click.option("--steps", type=POSITIVE, default=64, show_default=True, help="Steps a chain (--simulate).")
@click.option("--chains", type=POSITIVE, help="Chains; twice the capacity by default (--simulate).")
@click.option("--fitted", is_flag=True, help="Add overhead and latency fitted to published measurements.")
@click.option(
    "--plot",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Draw the stages' cycles, the sweep's front or the run's timeline.",
)
@options.take("json")
def command(design: str | None, as_json: bool, **given: Any) -> None:
    """Predict the throughput and resources of a circuit; with no PRESET, list the presets.

    A design is a file of facts: clock, unroll factors, resource table, and the source of each. Presets are
    the published designs and this project's own models. No device is needed.

    column-units is the model of an accelerator for variant calling; its designs have names such as O/S/8.
    """
    from syclade.quality.design.reader import load_design, load_device

    if design is None:
        _list_presets(as_json)
        return
    name = given.pop("device")
    given["card"] = None if name is None else load_device(name)
    if column_units.is_column_design(design):
        column_units.report(design, as_json, given)
        return
    sweeping = given["sweep"] or bool(given["over"])
    _check_together(given, sweeping)
    task = _prepare(load_design(design), as_json, given)
    if sweeping:
        _sweep(task, given["over"], given["csv_file"], given["plot"])
    elif given["simulate"]:
        _simulate(task, given["chains"], given["steps"], given["plot"])
    else:
        _predict(task, given["plot"])


def _check_together(given: dict[str, Any], sweeping: bool) -> None:
    """Reject options that would silently have no effect."""
    if sweeping and given["measured"]:
        raise OptionError("--measured and --sweep do not go together", hint="what was measured does not vary")
    if sweeping and given["simulate"]:
        raise OptionError("--simulate and --sweep do not go together", hint="give one of them")
    if given["csv_file"] and not sweeping:
        raise OptionError("--csv needs a sweep", hint="add --sweep or --over NAME=V1,V2")
    if given["chains"] and not given["simulate"]:
        raise OptionError("--chains needs a simulation", hint="add --simulate")


def _prepare(design: Design, as_json: bool, given: dict[str, Any]) -> _Task:
    from syclade.quality.design.api import on_card, with_measured
    from syclade.quality.design.shortfall import explain_shortfall

    changed = explain_shortfall(design).design if given["fitted"] else design
    if given["card"] is not None:
        changed = on_card(changed, given["card"])
    for stage in given["without"]:
        changed = changed.without(stage)
    size = (given["cells"], given["mutations"])
    if not given["measured"]:
        return _Task(changed.changed(_changes(design, given)), design, *size, as_json)
    made, own = with_measured(changed, given["measured"], _changes(design, given))
    return _Task(made, design, *size, as_json, own)


def _changes(design: Design, given: dict[str, Any]) -> dict[str, float]:
    """Return the parameters that the options set, by name."""
    named = ("clock_mhz", "n_max", "rows_per_packet", "proposer_ii", "replication", "capacity")
    changes = {name: float(given[name]) for name in named if given[name] is not None}
    factors = {each for stage in design.stages for each in stage.loops.values() if isinstance(each, str)}
    for text in given["unroll"]:
        name, value = _assignment(text if "=" in text else f"mapping={text}", "--unroll")
        if name not in factors - {"all"}:
            known = ", ".join(sorted(factors - {"all"})) or "none"
            raise OptionError(f"design {design.name} has no unroll factor {name!r}", hint=f"it has: {known}")
        changes[name] = _number(value, "--unroll")
    for text in given["settings"]:
        name, value = _assignment(text, "--set")
        changes[name] = _number(value, "--set")
    return changes


def _assignment(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise OptionError(f"{option} {text!r} is not of the form NAME=VALUE", hint="as in mapping=16")
    return name.strip(), value


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{option}: {text!r} is not a number", hint="as in mapping=16") from None


def _list_presets(as_json: bool) -> None:
    from syclade.quality.design.reader import load_design, preset_names
    from syclade.quality.design.tables import show_designs

    designs = [load_design(name) for name in preset_names()]
    if as_json:
        _print_json([{"design": each.name, "status": each.status, "title": each.title} for each in designs])
    else:
        show_designs(_console(), designs)


def _predict(task: _Task, plot: Path | None) -> None:
    from syclade.quality.design.api import predicted
    from syclade.quality.design.plots import plot_stages
    from syclade.quality.design.tables import show_measured, show_prediction

    result = predicted(task.design, task.own, task.cells, task.mutations)
    if plot is not None:
        plot_stages(result.prediction, result.own, plot)
    if task.as_json:
        _print_json(result.to_dict())
        return
    show_prediction(_console(), result.prediction, result.resources)
    if task.own is not None:
        show_measured(_console(), result.differences, result.kernels)


def _sweep(task: _Task, over: Iterable[str], csv_file: Path | None, plot: Path | None) -> None:
    from syclade.quality.design.plots import plot_front
    from syclade.quality.design.report import sweep_report
    from syclade.quality.design.sweep import run_sweep, write_csv
    from syclade.quality.design.tables import show_sweep
    from syclade.quality.design.throughput import predict

    pairs = [_assignment(text, "--over") for text in over]
    axes = {name: tuple(_number(each, "--over") for each in values.split(",")) for name, values in pairs}
    swept = run_sweep(task.design, axes or task.design.sweep, task.cells, task.mutations)
    if csv_file is not None:
        write_csv(swept, csv_file)
    if plot is not None:
        plot_front(swept, plot)
    prediction = predict(task.design, task.cells, task.mutations)
    if task.as_json:
        _print_json(sweep_report(swept, prediction))
    else:
        show_sweep(_console(), swept, prediction)


def _simulate(task: _Task, chains: int | None, steps: int, plot: Path | None) -> None:
    from syclade.quality.design.plots import plot_simulation
    from syclade.quality.design.report import simulation_report
    from syclade.quality.design.shortfall import explain_shortfall
    from syclade.quality.design.simulation import simulate, utilisation_by_capacity
    from syclade.quality.design.tables import show_shortfall, show_simulation
    from syclade.quality.design.throughput import predict

    design, cells, mutations = task.design, task.cells, task.mutations
    prediction = predict(design, cells, mutations)
    shown = TIMELINE_ROUNDS * prediction.round_trip
    run = simulate(design, cells, mutations, chains=chains, steps=steps, timeline=shown)
    by_capacity = utilisation_by_capacity(design, _capacities(prediction), cells, mutations)
    by_size = _by_size(design)
    measured = any(each.measured is not None for each in task.published.benchmarks)
    shortfall = explain_shortfall(task.published) if measured else None
    if plot is not None:
        plot_simulation(design, run, by_capacity, plot)
    if task.as_json:
        _print_json(simulation_report(prediction, run, by_capacity, by_size, shortfall, task.published))
        return
    console = _console()
    show_simulation(console, prediction, run, by_capacity, by_size)
    if shortfall is not None:
        show_shortfall(console, task.published, shortfall)


def _capacities(prediction: Prediction) -> list[int]:
    """Return the powers of two up to the capacity that fills the pipeline, that capacity and the design's."""
    enough = prediction.smallest_capacity
    powers = {2**k for k in range(enough.bit_length())}
    return sorted(powers | {enough, prediction.design.capacity})


def _by_size(design: Design) -> list[tuple[Prediction, Run]]:
    """Simulate the published input sizes that the design holds; without any, halves of its largest size."""
    from syclade.quality.design.simulation import simulate
    from syclade.quality.design.throughput import predict

    most = (int(design.value("cells_max")), design.nodes_max - 1)
    published = {(each.cells, each.mutations) for each in design.benchmarks}
    halves = {(max(1, most[0] // k), max(1, (most[1] + 1) // k - 1)) for k in (1, 2, 4)}
    sizes = [size for size in published or halves if size[0] <= most[0] and size[1] <= most[1]]
    return [(predict(design, *size), simulate(design, *size, steps=32)) for size in sorted(sizes)]


def _console() -> Console:
    """Return a console on standard output; outside a terminal it is wide enough for every table."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    return console


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2))
