"""``syclade bench``: chain steps per second."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.host.errors import OptionError

if TYPE_CHECKING:
    from syclade.quality.bench.measure import Measurement

__all__ = ["command"]


@click.command("bench")
@options.device_option()
@options.encoding_option()
@options.tree_option()
@options.score_option()
@click.option(
    "--learn-fn",
    type=options.Probability(inside=True),
    metavar="P",
    help="Learn the rate of false negatives, as infer does.",
)
@click.option("--cells", type=click.IntRange(min=1), default=64, show_default=True, help="Cells (columns).")
@click.option(
    "--mutations", type=click.IntRange(min=1), default=63, show_default=True, help="Mutations (rows)."
)
@click.option(
    "--slots", type=click.IntRange(min=1), help="Chains on the device at once; chosen from the device."
)
@click.option("--seconds", type=float, default=3.0, show_default=True, help="Length of a timed run.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Number of timed runs."
)
@click.option("--suite", is_flag=True, help="Measure all sizes, usable devices and encodings.")
@click.option("--scaling", is_flag=True, help="Vary cells, mutations, slots and threads.")
@click.option("--plot", type=options.INPUT_FILE, metavar="FILE", help="With --scaling: a plot, as PNG.")
@options.force_option()
@options.json_option()
def command(
    device: str,
    encoding: str,
    tree: str,
    score: str,
    learn_fn: float | None,
    cells: int,
    mutations: int,
    slots: int | None,
    seconds: float,
    repeats: int,
    suite: bool,
    scaling: bool,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Measure chain steps per second on a simulated input, after a warm-up.

    Prints the median of the timed runs. The input has the rates of the ffSCITE thesis: false positives 1e-6,
    false negatives 0.25, a quarter missing.
    """
    from syclade.host.devices.choice import choose_device
    from syclade.quality.bench.measure import measure

    if suite and scaling:
        raise OptionError("--suite and --scaling are two measurements", hint="ask for one at a time")
    if tree != "mutation" and (suite or scaling):
        raise OptionError("--suite and --scaling measure mutation trees", hint="leave out --tree")
    if score != "max" and (suite or scaling or tree != "mutation"):
        raise OptionError(f"--score {score} is for one size, of mutation trees", hint="leave out --score")
    if learn_fn is not None and (suite or scaling or tree != "mutation"):
        raise OptionError("--learn-fn is for one size, of mutation trees", hint="leave out --learn-fn")
    if plot is not None:
        _check_plot(plot, scaling, force)
    if suite:
        _suite(device, seconds, repeats, as_json)
        return
    if scaling:
        _scaling(device, encoding, seconds, repeats, plot, as_json)
        return
    chosen = choose_device(device)
    measured = measure(
        chosen,
        encoding,
        cells=cells,
        mutations=mutations,
        slots=slots,
        seconds=seconds,
        repeats=repeats,
        tree=tree,
        score=score,
        learn_fn=learn_fn,
    )
    if as_json:
        import json

        click.echo(json.dumps(measured.as_dict(), indent=2))
    else:
        _print_table(measured)


def _check_plot(plot: Path, scaling: bool, force: bool) -> None:
    """Raises an error now, before all measurements, if the plot could not be made after them."""
    from syclade.host.output.files import check_output
    from syclade.quality.extras import require_extras

    if not scaling:
        raise OptionError("--plot is for --scaling", hint="give both, or neither")
    require_extras("matplotlib")
    check_output(plot.parent, [plot.name], force)


def _suite(device: str, seconds: float, repeats: int, as_json: bool) -> None:
    import json

    from syclade.host.devices.choice import choose_device, list_devices
    from syclade.quality.bench.suite import run_suite
    from syclade.quality.bench.tables import suite_table

    every = [each for each in list_devices() if each.usable]
    chosen = every if device == "auto" else [choose_device(device)]
    reports = run_suite(chosen, seconds=seconds, repeats=repeats, done=_tell)
    click.echo(json.dumps(reports, indent=2) if as_json else suite_table(reports))


def _scaling(
    device: str, encoding: str, seconds: float, repeats: int, plot: Path | None, as_json: bool
) -> None:
    import json
    from dataclasses import asdict

    from syclade.host.devices.choice import choose_device
    from syclade.quality.bench.suite import run_scaling
    from syclade.quality.bench.tables import plot_scaling, scaling_table

    points = run_scaling(
        choose_device(device),
        encoding,
        seconds=seconds,
        repeats=repeats,
        done=lambda point: _tell(point.report),
    )
    click.echo(
        json.dumps([asdict(point) for point in points], indent=2) if as_json else scaling_table(points)
    )
    if plot is not None:
        plot_scaling(points, plot)


def _tell(report: dict[str, Any]) -> None:
    """One line of progress on standard error."""
    click.echo(
        f"{report['cells']} x {report['mutations']}, {report['slots']} slots, {report['kind']}, "
        f"{report['encoding']}: {report['steps_per_second'] / 1e3:.4g} ksteps/s",
        err=True,
    )


def _print_table(measured: Measurement) -> None:
    report = measured.as_dict()
    low, high = (report[f"steps_per_second_{end}"] / 1e3 for end in ("min", "max"))
    rows = {
        "device": f"{measured.device} ({measured.device_name}), {measured.cores} cores",
        "input": f"{measured.cells} cells x {measured.mutations} mutations, encoding {measured.encoding}",
        "chains": f"{measured.slots} at once, {measured.launch_steps} steps a launch",
        "speed": f"{measured.steps_per_second / 1e3:.1f} ksteps/s ({low:.1f} to {high:.1f}, "
        f"{len(measured.timings)} runs)",
        "time": f"{measured.ns_per_step:.0f} ns a step, {measured.cpu_ns_per_step:.0f} ns a step and core",
        "accepted": f"{100 * measured.acceptance:.1f} %",
        "versions": ", ".join(f"{name} {version}" for name, version in measured.versions.items()),
    }
    for name, value in rows.items():
        click.echo(f"{name:9} {value}")
