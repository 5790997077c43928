"""``syclade quality tost``: compare our best trees with SCITE's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras
from syclade.quality.tost.api import CHAINS, FN_RATE, FP_RATE, METHODS, STEPS

__all__ = ["command"]

FILES = ("tost.json", "tost.png")
KEPT = "inputs"


@click.command("tost")
@check_options.reference_option
@options.take_one_device
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=METHODS[0],
    show_default=True,
    help="Run chains as SCITE does, or search.",
)
@click.option("--chains", type=click.IntRange(min=1), help=f"Chains; as SCITE's runs, or {CHAINS}.")
@click.option("--steps", type=click.IntRange(min=1), help=f"Steps of a chain; as SCITE's runs, or {STEPS}.")
@click.option(
    "--fp-rate",
    type=options.Probability(inside=True),
    help=f"SCITE's -fd, where the folder has no reference.json; {FP_RATE:g} by default.",
)
@click.option(
    "--fn-rate",
    type=options.Probability(inside=True),
    help=f"SCITE's -ad, where the folder has no reference.json; {FN_RATE:g} by default.",
)
@options.take("fn_rate_hom", "hom_rate", "merge_homozygous", "encoding", "stages", "image", "seed")
@check_options.limit_option
@click.option(
    "--ours",
    type=options.INPUT_FILE,
    metavar="DIR",
    help="Compare trees of another program or device in this folder, in place of runs; for input NN, "
    "NN.newick, NN.gv, NN_ml0.newick, NN_ml0.gv or NN/tree.newick.",
)
@options.take("out", required=True)
@options.take("force", "json")
def command(reference: Path | None, out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Compare our best trees with SCITE's by two one-sided paired t-tests.

    Infers a tree for each input, and scores it and SCITE's tree with the same scorer, which must agree with
    SCITE's logs. The programs are equivalent if the mean difference is less than one bit flip in both
    directions, each tested at significance 0.01. Writes tost.json, tost.png and one file per input in
    DIR/inputs; inputs that were done with the same settings are not done again. With --ours, the trees of a
    folder are compared with SCITE's in place of ours.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality import tost

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = tost(reference, keep=out / KEPT, force=force, progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
