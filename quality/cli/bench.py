"""``syclade bench``: measure chain steps per second."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted
from syclade.quality.cli.energy import energy_meter
from syclade.quality.extras import require_extras

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syclade.quality.bench.energy import EnergyMeter
    from syclade.quality.bench.measure import Measurement
    from syclade.quality.bench.thesis import Point

__all__ = ["command"]

T = TypeVar("T")

Measured = tuple[Any, str, "Callable[[], Figure] | None"]
"""Report of a measurement for JSON, its text, and the function that draws its figure, or None."""


@click.command("bench")
@options.take_one_device
@options.take("encoding", "tree", "score")
@options.take("learn_fn", help="Learn the rate of false negatives, as infer does.")
@options.take("doublets", help="Rate of doublets of the input and of the chains.")
@click.option("--cells", type=click.IntRange(min=1), default=64, show_default=True, help="Cells (columns).")
@click.option(
    "--mutations", type=click.IntRange(min=1), default=63, show_default=True, help="Mutations (rows)."
)
@options.take("slots", "stages", "image")
@click.option("--seconds", type=float, default=3.0, show_default=True, help="Length of a timed run.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Number of timed runs."
)
@click.option(
    "--suite",
    is_flag=False,
    flag_value="sizes",
    type=click.Choice(("sizes", "thesis", "tails")),
    help="sizes (or no name): all sizes, usable devices and encodings. thesis: the parameters of figure 4.1 "
    "of the ffSCITE thesis (three sizes, 6 and 12 chains, four lengths), beside SCITE. tails: columns of "
    "pileups, beside Algorithm 1 of LoFreq in C.",
)
@click.option("--scaling", is_flag=True, help="Vary cells, mutations, slots and threads.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="R",
    help="Runs of each combination (--suite thesis); 10 without.",
)
@click.option(
    "--scite",
    type=options.INPUT_FILE,
    metavar="PATH",
    help="A SCITE program to measure in turns with ours (--suite thesis); stored figures without.",
)
@click.option("--energy", is_flag=True, help="Measure joules too, by the processor's RAPL counters.")
@click.option(
    "--plot",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="With --scaling or --suite thesis: a plot, as PNG.",
)
@options.take("seed", "force", "json")
def command(
    device: str,
    encoding: str,
    suite: str | None,
    scaling: bool,
    runs: int | None,
    scite: Path | None,
    energy: bool,
    plot: Path | None,
    seconds: float,
    repeats: int,
    seed: int,
    force: bool,
    as_json: bool,
    **single: Any,
) -> None:
    """Measure chain steps per second on a simulated input, after a warm-up.

    Prints the median of the timed runs. The input has the rates of the ffSCITE thesis: 1e-6 for false
    positives, 0.25 for false negatives, and a quarter of the values missing.
    """
    _check_options(suite, scaling, runs, scite, energy, single)
    if plot is not None:
        _check_plot(plot, scaling or suite == "thesis", force)
    with energy_meter(energy) as (meter, note):
        if suite == "thesis":
            report, text, figure = _thesis(device, encoding, runs, scite, seed, meter, note)
        elif suite == "tails":
            report, text, figure = _tails(device, repeats)
        elif suite == "sizes":
            report, text, figure = _suite(device, seconds, repeats)
        elif scaling:
            report, text, figure = _scaling(device, encoding, seconds, repeats)
        else:
            report, text, figure = _single(device, encoding, seconds, repeats, seed, meter, note, single)
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        click.echo(text)
    if plot is not None and figure is not None:
        from syclade.quality.figures import write_figure

        write_figure(figure(), plot)


def _check_options(
    suite: str | None,
    scaling: bool,
    runs: int | None,
    scite: Path | None,
    energy: bool,
    single: dict[str, Any],
) -> None:
    """Reject options that cannot be combined.

    Raises:
        OptionError: options exclude each other.
    """
    many = scaling or suite is not None
    if suite is not None and scaling:
        raise OptionError("--suite and --scaling are two measurements", hint="ask for one at a time")
    if single["tree"] != "mutation" and many:
        raise OptionError("--suite and --scaling measure mutation trees", hint="leave out --tree")
    leaf = single["tree"] != "mutation"
    if single["score"] != "max" and (many or leaf):
        score = single["score"]
        raise OptionError(f"--score {score} is for one size, of mutation trees", hint="leave out --score")
    for name in ("learn_fn", "doublets", "image", "stages"):
        if single[name] not in (None, "fused") and (many or leaf):
            flag = flag_of(name)
            raise OptionError(f"{flag} is for one size, of mutation trees", hint=f"leave out {flag}")
    for name, value in (("--runs", runs), ("--scite", scite)):
        if value is not None and suite != "thesis":
            raise OptionError(f"{name} is for --suite thesis", hint="give both, or neither")
    if energy and many and suite != "thesis":
        raise OptionError("--energy is for one size, and for --suite thesis", hint="leave out --energy")


def _check_plot(plot: Path, drawn: bool, force: bool) -> None:
    """Raise an error before the measurements start if the plot could not be made after them."""
    from syclade.host.ground.files import check_file

    if not drawn:
        raise OptionError("--plot is for --scaling and --suite thesis", hint="give one of them too")
    require_extras("matplotlib")
    check_file(plot, force)


def _thesis(
    device: str,
    encoding: str,
    runs: int | None,
    scite: Path | None,
    seed: int,
    meter: EnergyMeter | None,
    energy: str,
) -> Measured:
    from syclade.host.device.choice import choose_device
    from syclade.quality.bench.thesis import RUNS, run_thesis
    from syclade.quality.bench.thesis_report import thesis_figure, thesis_table
    from syclade.quality.reference.scite_program import find_scite

    program = None if scite is None else find_scite(scite)
    bench = run_thesis(
        choose_device(device),
        encoding,
        runs=RUNS if runs is None else runs,
        seed=seed,
        scite=program,
        meter=meter,
        energy=energy,
        done=_tell_point,
    )
    return bench.to_dict(), thesis_table(bench), lambda: thesis_figure(bench)


def _tails(device: str, repeats: int) -> Measured:
    from syclade.host.device.choice import list_devices
    from syclade.quality.bench.tails import bench_tails, describe_point, table

    usable = {one.kind for one in list_devices() if one.usable}
    devices = [kind for kind in ("native", "cpu") if kind in usable] if device == "auto" else [device]
    report = bench_tails(
        devices, repeats=repeats, done=lambda point: click.echo(describe_point(point), err=True)
    )
    return report, table(report), None


def _until_interrupted(measure: Callable[..., list[T]], show: Callable[[T], None]) -> list[T]:
    """Return all measurements, or after Ctrl-C those that have ended.

    Args:
        measure: takes `done`, which it calls with each measurement.
        show: prints the progress.
    """
    ended: list[T] = []

    def done(one: T) -> None:
        ended.append(one)
        show(one)

    try:
        return measure(done=done)
    except KeyboardInterrupt:
        if not ended:
            raise
        click.echo(f"interrupted: {counted(len(ended), 'measurement', 'measurements')}, not all", err=True)
        return ended


def _suite(device: str, seconds: float, repeats: int) -> Measured:
    from syclade.host.device.choice import choose_device, list_devices
    from syclade.quality.bench.suite import run_suite
    from syclade.quality.bench.tables import suite_table

    every = [each for each in list_devices() if each.usable]
    chosen = every if device == "auto" else [choose_device(device)]
    measure = functools.partial(run_suite, chosen, seconds=seconds, repeats=repeats)
    reports: list[dict[str, Any]] = _until_interrupted(measure, _tell)
    return reports, suite_table(reports), None


def _scaling(device: str, encoding: str, seconds: float, repeats: int) -> Measured:
    from syclade.host.device.choice import choose_device
    from syclade.quality.bench.suite import run_scaling
    from syclade.quality.bench.tables import scaling_figure, scaling_table

    chosen = choose_device(device)
    measure = functools.partial(run_scaling, chosen, encoding, seconds=seconds, repeats=repeats)
    points = _until_interrupted(measure, lambda point: _tell(point.report))
    return [asdict(point) for point in points], scaling_table(points), lambda: scaling_figure(points)


def _single(
    device: str,
    encoding: str,
    seconds: float,
    repeats: int,
    seed: int,
    meter: EnergyMeter | None,
    energy: str,
    settings: dict[str, Any],
) -> Measured:
    from syclade.quality.bench.circuits import device_of
    from syclade.quality.bench.measure import measure

    chosen = device_of(device, settings["stages"], settings["image"])
    measured = measure(chosen, encoding, seconds=seconds, repeats=repeats, seed=seed, meter=meter, **settings)
    report = measured.as_dict()
    return (report | {"energy": energy} if energy else report), _table(measured, energy), None


def _tell_point(point: Point) -> None:
    """Print one line of progress on standard error."""
    chains = f"{point.chains} chains of {point.steps} steps"
    click.echo(f"{point.cells} x {point.mutations}, {chains}: {point.seconds:.3g} s", err=True)


def _tell(report: dict[str, Any]) -> None:
    """Print one line of progress on standard error."""
    click.echo(
        f"{report['cells']} x {report['mutations']}, {report['slots']} slots, {report['kind']}, "
        f"{report['encoding']}: {report['steps_per_second'] / 1e3:.4g} ksteps/s",
        err=True,
    )


def _table(measured: Measurement, energy: str) -> str:
    """Return one measurement as lines of text."""
    report = measured.as_dict()
    low, high = (report[f"steps_per_second_{end}"] / 1e3 for end in ("min", "max"))
    rows = {
        "device": f"{measured.device} ({measured.device_name}), {measured.cores} cores",
        "input": f"{measured.cells} cells x {measured.mutations} mutations, encoding {measured.encoding}"
        + ("" if measured.stages == "fused" else f", {measured.stages} stages")
        + ("" if measured.image is None else f", image {measured.image}"),
        "chains": f"{measured.slots} at once, {measured.launch_steps} steps a launch",
        "speed": f"{measured.steps_per_second / 1e3:.1f} ksteps/s ({low:.1f} to {high:.1f}, "
        f"{len(measured.timings)} runs)",
        "time": f"{measured.ns_per_step:.0f} ns a step, {measured.cpu_ns_per_step:.0f} ns a step and core",
        "accepted": f"{100 * measured.acceptance:.1f} %",
        "versions": ", ".join(f"{name} {version}" for name, version in measured.versions.items()),
    }
    if energy:
        joules = measured.joules_per_step
        rows["energy"] = energy if joules is None else f"{joules * 1e6:.3g} µJ a step; {energy}"
    return "\n".join(f"{name:9} {value}" for name, value in rows.items())
