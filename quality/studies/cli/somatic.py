"""The study `somatic`: how many somatic variants are found, and how many calls are false?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("somatic.json", "somatic.md")


@click.command("somatic")
@check_options.inputs_option("Number of pairs of each depth.", default=3)
@click.option("--lofreq", metavar="PROGRAM", help="LoFreq program to compare with.")
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(inputs: int, lofreq: str | None, seed: int, out: Path, force: bool, as_json: bool) -> int:
    """Call somatic variants of simulated tumours, at five depths from 30 to 3000.

    Each pair has a genome of 10,000 bases, 30 somatic variants at 1 to 50 %, and ten germline variants, some
    of which the tumour has lost. The check holds if syclade finds as many as LoFreq in total, with no more
    false calls. Writes somatic.json and somatic.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.somatic.api import somatic_study

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = somatic_study(lofreq=lofreq, inputs=inputs, seed=seed, progress=show)
    return check_options.report_tables(result, out, FILES, force, as_json)
