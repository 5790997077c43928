"""The study `consensus`: compare consensus trees with the true trees of simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli.options import report_tables
from syclade.quality.cli.progress import progress_bar
from syclade.quality.cli.shared_options import of_inputs

__all__ = ["command"]

FILES = ("consensus.json", "consensus.md")


@click.command("consensus")
@of_inputs
@click.option("--chains", type=click.IntRange(min=1), default=4, show_default=True, help="Chains.")
@click.option(
    "--steps", type=click.IntRange(min=4), default=400_000, show_default=True, help="Steps of each chain."
)
@options.take("device", "threads")
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Compare consensus trees of samples with the true trees of simulated inputs.

    The inputs have false positives of 0.001, false negatives of 0.2, and 10 % missing values. The table has
    precision, recall and F1 of pairs of an ancestor and a descendant, and of pairs on different lineages: for
    the most likely tree, for pairs in at least half of the samples, and for the consensus with several
    thresholds, the defaults first. Writes consensus.json and consensus.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.consensus.api import consensus

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = consensus(progress=show, **settings)
    return report_tables(result, out, FILES, force, as_json)
