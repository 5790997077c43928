"""The study `branches`: are the mutations of a branch one clone of the consensus?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli.options import inputs_option, report_tables
from syclade.quality.cli.progress import progress_bar

__all__ = ["command"]

FILES = ("branches.json", "branches.md")


@click.command("branches")
@options.take("device", "threads")
@inputs_option("Number of inputs.", default=24)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(inputs: int, device: str, seed: int, out: Path, force: bool, as_json: bool) -> int:
    """Compare clones of the consensus with the branches of true trees, which have three mutations each.

    Inputs have 400 cells, 24 mutations, clones of Zipf's sizes, and rates of false negatives from 1 to 25 %.
    Nothing tells the order of mutations of one branch. The check holds if fewer than 5 % of these pairs have
    an order with a probability of 0.9 or more; if the median number of clones differs from the true one by
    two at most; if the consensus has no more wrong claims between clones than the most likely tree; and if
    more orders are sure with one rate for all mutations, and with equally probable nodes for the cells.
    Writes branches.json and branches.md to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.consensus.branches import branches

    check_output(out, FILES, force)
    with progress_bar() as show:
        result = branches(inputs=inputs, device=device, seed=seed, progress=show)
    return report_tables(result, out, FILES, force, as_json)
