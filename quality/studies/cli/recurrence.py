"""The study `recurrence`: do tests of recurrence find recurrences, and only these?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("recurrence.json", "recurrence.md")


@click.command("recurrence")
@options.take("device", "threads")
@click.option("--cells", type=click.IntRange(min=2), default=400, show_default=True, help="Number of cells.")
@click.option(
    "--mutations", type=click.IntRange(min=6), default=24, show_default=True, help="Number of mutations."
)
@check_options.inputs_option("Number of inputs of each kind.", default=24)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Test all mutations of inputs with clones of unequal sizes for a recurrence, and compare with the truth.

    Inputs without a recurrence have branches of three mutations, of one rate of false negatives or of
    different ones; in the others two mutations recur, or are lost. The check holds if at most 2 % of the
    mutations of inputs without recurrences have a log Bayes factor above 3, and more if all nodes are equally
    probable. Writes recurrence.json and recurrence.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.recurrence.api import recurrence_study

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = recurrence_study(progress=show, **settings)
    return check_options.report_tables(result, out, FILES, force, as_json)
