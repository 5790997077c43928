"""The option ``--encoding`` of the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["encoding_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def encoding_option() -> Callable[[Command], Command]:
    """``--encoding``, ``auto`` by default."""
    return click.option(
        "--encoding",
        type=click.Choice(["auto", "preorder", "ancestor"]),
        default="auto",
        show_default=True,
        help="How trees stand in the device's memory.",
    )
