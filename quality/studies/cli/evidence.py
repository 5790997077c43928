"""The study `evidence`: are trees of reads nearer to the truth than trees of their calls?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("evidence.json", "evidence.md")


@click.command("evidence")
@check_options.inputs_option("Number of inputs of each size, depth and dropout.", default=8)
@click.option(
    "--depth",
    "depths",
    type=click.FloatRange(min=1.0),
    multiple=True,
    help="Mean number of reads; may be repeated. 3, 10 and 30 by default.",
)
@options.take("floor", "seed", "threads")
@click.option(
    "--scistree2",
    type=options.INPUT_FILE,
    metavar="PYTHON",
    help="Interpreter that can import scistree2; its trees are then compared, too.",
)
@options.take("out", required=True)
@options.take("force", "json")
def command(
    inputs: int,
    depths: tuple[float, ...],
    floor: float,
    seed: int,
    scistree2: Path | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Infer trees of simulated reads, as reads and as calls, and compare them with the true tree.

    Inputs have 40 x 100 and 100 x 200 mutations and cells, and clones of unequal sizes. The check holds if
    trees of reads are as near as trees of calls, or nearer, on 90 % of the inputs of a depth of 10 or less
    and on half of the deeper ones, and if no cell tree is less likely than ScisTree2's. Writes evidence.json
    and evidence.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.evidence.api import DEPTHS, evidence_study

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = evidence_study(
            inputs=inputs,
            depths=depths or DEPTHS,
            floor=floor,
            seed=seed,
            scistree2=scistree2,
            progress=show,
        )
    return check_options.report_tables(result, out, FILES, force, as_json)
