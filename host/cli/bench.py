"""``syclade bench``: chain steps per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from syclade.host.cli import options

if TYPE_CHECKING:
    from syclade.quality.bench import Measurement

__all__ = ["command"]


@click.command("bench")
@options.device_option()
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
@options.json_option()
def command(
    device: str,
    cells: int,
    mutations: int,
    slots: int | None,
    seconds: float,
    repeats: int,
    as_json: bool,
) -> None:
    """Measure chain steps per second on a simulated input, after a warm-up.

    Prints the median of the timed runs. The input has the rates of the ffSCITE thesis: false positives 1e-6,
    false negatives 0.25, a quarter missing.
    """
    from syclade.host.devices import choose_device

    # As with simulate: a command is a front, not a part of the machine.
    from syclade.quality.bench import measure

    chosen = choose_device(device)
    measured = measure(
        chosen, cells=cells, mutations=mutations, slots=slots, seconds=seconds, repeats=repeats
    )
    if as_json:
        import json

        click.echo(json.dumps(measured.as_dict(), indent=2))
    else:
        _print_table(measured)


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
