"""``syclade quality models``: compare the models with and without doublets on real matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli.options import report_tables
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("models.json", "models.tsv", "models.md")


@click.command("models")
@click.argument("matrices", type=options.INPUT_FILE, nargs=-1, required=True, metavar="MATRIX...")
@options.take_one_device
@options.take("fp_rate", required=False, default=1e-3, help="Mean of the prior of false positives.")
@options.take("fn_rate", required=False, default=0.2, help="Mean of the prior of false negatives.")
@click.option("--chains", type=click.IntRange(min=1), default=4, show_default=True, help="Chains.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=100_000, show_default=True, help="Steps of each chain."
)
@options.take("start", default="search")
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(matrices: tuple[Path, ...], out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Compare the models with and without doublets on real matrices, MATRIX....

    Chains of either model learn its rates, from trees of searches. Then rates are fitted to the best trees
    without priors: of single cells, of doublets, and of a control whose pairs of nodes are on one lineage.
    The table has the log-likelihoods, the rates with doublets, the number of cells that are doublets of two
    branches with a probability above 1/2, the gain by doublets, the likelihood-ratio test of a rate of 0, the
    gain over the control, and the model with the best BIC. Writes models.json, models.tsv and models.md to
    DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.models.api import models

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = models(matrices, progress=show, **settings)
    return report_tables(result, out, FILES, force, as_json, result.tsv())
