"""JSON output of a result, for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["tell_json"]


def tell_json(result: Result) -> None:
    """Print one JSON object: the contents of summary.json and run.json, and the tree in Newick format."""
    told = {"summary": result.summary(), "run": result.run(), "newick": result.to_newick()}
    click.echo(json.dumps(told, indent=2))
