"""``syclade compare``: how far a tree is from another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from syclade.host.cli import options

__all__ = ["command"]

_KINDS = {"parents": "parent of", "ancestors": "ancestor of", "lineages": "in different lineages"}


@click.command("compare")
@click.argument("tree", type=options.INPUT_FILE)
@click.argument("true", type=options.INPUT_FILE)
@options.json_option()
def command(tree: Path, true: Path, as_json: bool) -> None:
    """Compare TREE with the tree TRUE: which pairs of mutations are related alike.

    Both are Newick or GraphViz files, syclade's or SCITE's, of the same mutations; cells that hang in them
    are left out. Precision is the part of TREE's pairs that TRUE has, too; recall that of TRUE's pairs that
    TREE has.
    """
    import json

    from syclade.host.trees.truth import compare_files

    told = compare_files(tree, true)
    if as_json:
        click.echo(json.dumps(told, indent=2))
        return
    for line in lines_of(told):
        click.echo(line)


def lines_of(told: Mapping[str, Any]) -> list[str]:
    """What `truth.compare` found, in words."""
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
