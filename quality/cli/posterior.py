"""``syclade quality posterior``: check that the chain samples its posterior."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras
from syclade.quality.posterior.api import DEFAULT_GAMMA

__all__ = ["command"]

FILES = ("posterior.json", "posterior.png")


@click.command("posterior")
@options.take_one_device
@check_options.mutations_option
@check_options.samples_option
@click.option(
    "--gamma",
    type=click.FloatRange(0.01, 10),
    default=DEFAULT_GAMMA,
    show_default=True,
    help="Exponent of the likelihood; with 1 a chain that forgets it would not be detected.",
)
@click.option(
    "--move-probs",
    "move_probabilities",
    type=float,
    nargs=3,
    metavar="P L S",
    help="Weights of prune and reattach, swap labels, swap subtrees; 0.3, 0.3, 0.4 without. "
    "Those of cell trees are 0.4 and 0.6 always.",
)
@options.take("tree")
@click.option("--zygosity", is_flag=True, help="Let some observations be homozygous, with their own rates.")
@click.option(
    "--learn",
    is_flag=True,
    help="Learn the error rates, on grids of few points; N is 2 to 4, or 3 to 5 cells.",
)
@options.take("score", "encoding", "seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Compare the chain on small trees with the exact posterior and the exact chain.

    Enumerates all trees of N mutations (or of N cells). Three conditions must hold: the proposals are in
    detailed balance (in exact fractions), independent reads visit the trees with the frequencies of the
    posterior, and single steps have the probabilities of the exact chain. Writes posterior.json and
    posterior.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality import posterior

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = posterior(progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
