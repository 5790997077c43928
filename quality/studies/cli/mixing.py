"""The study `mixing`: effective samples per step and per second of the chains for support."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli.options import report_tables
from syclade.quality.cli.progress import progress_bar
from syclade.quality.cli.shared_options import of_inputs

__all__ = ["command"]

FILES = ("mixing.json", "mixing.md")


@click.command("mixing")
@of_inputs
@click.option(
    "--steps", type=click.IntRange(min=100), default=1_000_000, show_default=True, help="Steps of each chain."
)
@options.take("device", "threads")
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Measure how well the chains that sample trees for support mix, with guided moves and without.

    The inputs have false positives of 0.001, false negatives of 0.2, and 10 % missing values. The table has
    effective sample sizes of the log-likelihood and of ancestor pairs with probabilities from 0.05 to 0.95,
    per second of processor time, in the second half of the steps. Writes mixing.json and mixing.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.mixing.api import mixing

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = mixing(progress=show, **settings)
    return report_tables(result, out, FILES, force, as_json)
