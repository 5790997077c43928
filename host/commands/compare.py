"""``syclade compare``: compare a tree with another, such as the true one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options

__all__ = ["command"]

_KINDS = {"parents": "parent of", "ancestors": "ancestor of", "lineages": "in different lineages"}


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
    from syclade.host.data.trees.truth import compare_files

    told = compare_files(tree, true)
    if as_json:
        click.echo(json.dumps(told, indent=2))
        return
    for line in lines_of(told):
        click.echo(line)


def lines_of(told: Mapping[str, Any]) -> list[str]:
    """Return the result of `truth.compare` as lines of text."""
    lines = []
    for name, words in _KINDS.items():
        kind = told[name]
        lines.append(
            f"{words:22} precision {kind['precision']:.4f}  recall {kind['recall']:.4f}  "
            f"distance {kind['distance']}"
        )
    lines.append(f"CASet {told['caset']:.4f}  DISC {told['disc']:.4f}")
    if told["mltd_similarity"] is not None:
        lines.append(f"MLTD similarity {told['mltd_similarity']:.4f}")
    return lines
