"""``syclade compare``: compare a tree with another, such as the true one."""

from __future__ import annotations

import json
from pathlib import Path

import click

from syclade.host.commands import options

__all__ = ["command"]


@click.command("compare")
@click.argument("tree", type=options.INPUT_FILE)
@click.argument("true", type=options.INPUT_FILE)
@options.take("json")
def command(tree: Path, true: Path, as_json: bool) -> None:
    """Compare TREE with the tree TRUE: count the pairs of mutations with the same relation in both.

    Both are Newick or GraphViz files, syclade's or SCITE's, with the same mutations; attached cells are
    ignored. Precision is the share of TREE's pairs that TRUE also has; recall is the share of TRUE's pairs
    that TREE also has.
    """
    from syclade.host.data.trees.distances import compare_files
    from syclade.host.findings.truth import comparison_lines

    comparison = compare_files(tree, true)
    if as_json:
        click.echo(json.dumps(comparison, indent=2))
        return
    for line in comparison_lines(comparison):
        click.echo(line)
