"""The study `scaling`: chains with doublets on several cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("scaling.json", "scaling.png")


@click.command("scaling")
@options.take("device", default="native")
@options.take("threads", help="Measure on up to this many threads.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Of a measurement."
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of measurements."
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Measure chains with doublets on 1 core up to all, beside the published scaling of ∞SCITE.

    Many slots at four sizes: that of pat_2, and 500 cells x 40 mutations to 50,000 x 100. Also bounds what a
    slot could gain if its cells were divided over two cores, and models more cores. The check holds if slots
    on two cores are no slower than that. Writes scaling.json and scaling.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.scaling.api import scaling

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = scaling(progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
