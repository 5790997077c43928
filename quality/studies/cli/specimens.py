"""The study `specimens`: do intervals of the shares of clones in biopsies contain the truth?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("specimens.json", "specimens.md")


@click.command("specimens")
@options.take("device", "threads")
@check_options.inputs_option("Number of inputs.", default=32)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(inputs: int, device: str, seed: int, out: Path, force: bool, as_json: bool) -> int:
    """Compare the shares of clones in two simulated biopsies with the truth.

    Inputs have 300 and 500 cells, 12 to 40 mutations, and shares by Zipf's law or drawn for each. The check
    holds if 85 to 95 % of the 90 % intervals contain the truth, if clones with drawn shares grow as often as
    is stated, and if intervals of biopsies in random order contain the truth less often. Writes
    specimens.json and specimens.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.specimens.api import specimen_study

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = specimen_study(inputs=inputs, device=device, seed=seed, progress=show)
    return check_options.report_tables(result, out, FILES, force, as_json)
