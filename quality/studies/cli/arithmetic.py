"""The study `arithmetic`: errors and cycles of exponentials, logarithms and steps with doublets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("arithmetic.json", "arithmetic.png")


@click.command("arithmetic")
@options.take("device", default="native")
@options.take("threads")
@check_options.inputs_option("Inputs for errors of scores, and for best trees.", default=8)
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=0.5, show_default=True, help="Of a measurement."
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of measurements."
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Measure the arithmetic of our scores, beside that of an optimised ∞SCITE (stored figures).

    Errors of each exponential and logarithm and of trees' scores against exact numbers, whether the best of
    all trees is the same, cycles per element; the hotspots of the publication with what stands in their
    place; the time of a step for 16 to 512 mutations. The check holds if all best trees are the same and the
    time of a step grows no faster than the number of nodes. Writes arithmetic.json and arithmetic.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.arithmetic.api import arithmetic

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = arithmetic(progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
