"""``syclade quality doublets``: measure what the model of doublets brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.cli import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("doublets.json", "doublets.png")


@click.command("doublets")
@options.take("device", "threads")
@click.option(
    "--inputs",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    metavar="K",
    help="Inputs with doublets, and as many without.",
)
@click.option("--mutations", type=click.IntRange(min=2), default=40, show_default=True, help="Of an input.")
@click.option("--cells", type=click.IntRange(min=2), default=100, show_default=True, help="Of an input.")
@click.option(
    "--rate",
    type=options.Probability(inside=True),
    default=0.25,
    show_default=True,
    help="Rate of doublets of the inputs and of the model.",
)
@click.option("--chains", type=click.IntRange(min=1), default=16, show_default=True, help="Chains.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=50_000, show_default=True, help="Steps of each chain."
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Infer trees of simulated inputs with and without doublets, by models with and without them.

    Compares them with the true trees, and the doublets' probabilities with the true doublets. Error rates are
    0.001 and 0.2, a fifth of the values is missing. The check holds if half of the precision that doublets
    cost comes back, and none is lost where there are none. Writes doublets.json and doublets.png to DIR.
    """
    from syclade.host.common.files import check_output
    from syclade.quality.doublets.api import recovery

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = recovery(progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
