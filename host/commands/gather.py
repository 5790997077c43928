"""``syclade gather``: write the tables of a batch that ran in parts."""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options

__all__ = ["command"]


@click.command("gather")
@click.argument("folder", metavar="DIR", type=options.INPUT_FILE)
@options.take("json", "quiet")
def command(folder: Path, as_json: bool, quiet: bool) -> int:
    """Write the tables of the batch in DIR from the results that are there: results.tsv and the pages.

    The exit status is 0 if all matrices have a result, 1 if some have none.
    """
    from syclade.host.answer.batch.folder import gather, read_batch
    from syclade.host.commands.batch import ending

    return ending(gather(read_batch(folder)), folder, quiet=quiet, as_json=as_json)
