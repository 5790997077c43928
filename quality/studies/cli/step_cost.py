"""The study `step-cost`: processor time of a step over numbers of cells and of mutations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("step-cost.json", "step-cost.png")


@click.command("step-cost")
@options.take("device", default="native")
@options.take("threads")
@click.option(
    "--cells",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="M",
    help="Cells; may be given more than once.",
)
@click.option(
    "--mutations",
    type=click.IntRange(min=2),
    multiple=True,
    metavar="N",
    help="Mutations; may be given more than once.",
)
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=0.2, show_default=True, help="Of a measurement."
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of measurements."
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    cells: tuple[int, ...],
    mutations: tuple[int, ...],
    out: Path,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """Measure a step of the sum score: processor time over cells and mutations.

    The chains start at the true trees of simulated inputs. Without sizes, 64 to 1024 cells with 64 to 512
    mutations. The check holds if the cost grows at most as cells and as the square root of mutations. Writes
    step-cost.json and step-cost.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.step_cost.api import CELLS, MUTATIONS, step_cost

    require_extras("matplotlib")
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = step_cost(cells=cells or CELLS, mutations=mutations or MUTATIONS, progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
