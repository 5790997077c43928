"""The study `rates`: do intervals of estimated rates contain the truth?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("rates.json", "rates.md")


@click.command("rates")
@options.take("device", "threads")
@check_options.inputs_option("Number of inputs.", default=64)
@click.option("--normal", type=float, metavar="PART", help="Part of the cells that have no mutation.")
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    inputs: int, normal: float | None, device: str, seed: int, out: Path, force: bool, as_json: bool
) -> int:
    """Infer trees without given rates, and count the 90 % intervals of the rates that contain the truth.

    Inputs have 8 to 60 mutations, 200 to 3000 cells, and clones of unequal sizes. The check holds if 80 to
    97 % of the intervals contain the truth, and fewer if all nodes had equal shares of the cells. Writes
    rates.json and rates.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.rates.api import interval_study

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = interval_study(inputs=inputs, normal=normal, device=device, seed=seed, progress=show)
    return check_options.report_tables(result, out, FILES, force, as_json)
