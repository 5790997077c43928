"""Options that several checks have: sizes of simulated inputs, and other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["PEER", "PEER_SECONDS", "SHARES", "of_inputs"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PEER: Decorator = click.option(
    "--peer",
    "named",
    type=click.Choice(("ScisTree2", "HUNTRESS")),
    multiple=True,
    help="Which of them to run; may be given twice.",
)

PEER_SECONDS: Decorator = click.option(
    "--peer-seconds",
    type=click.FloatRange(min=1),
    default=600.0,
    show_default=True,
    help="What each may take for an input.",
)


def _number_or_name(_context: click.Context, _option: click.Parameter, text: str) -> str | float:
    """Return the number that a text is, or else the text."""
    try:
        return float(text)
    except ValueError:
        return text


SHARES: Decorator = click.option(
    "--shares",
    default="equal",
    show_default=True,
    metavar="equal|zipf|K",
    callback=_number_or_name,
    help="Expected shares of the cells at the nodes, as for `simulate`; K: from a Dirichlet distribution.",
)


def of_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the size and number of simulated inputs."""
    for name, least, default, help in (
        ("inputs", 1, 4, "Number of inputs."),
        ("mutations", 2, 63, "Mutations."),
        ("cells", 1, 64, "Cells."),
    ):
        option = click.option(
            f"--{name}", type=click.IntRange(min=least), default=default, show_default=True, help=help
        )
        command = option(command)
    return command
