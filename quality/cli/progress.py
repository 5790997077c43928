"""Progress on standard error: a bar in a terminal, elsewhere a line from time to time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from syclade.host.commands.progress import LINE_SECONDS, at_intervals

__all__ = ["Show", "progress_bar"]

Show = Callable[[str, float, float], None]
"""Called with the current activity, the amount done and the total."""


@contextmanager
def progress_bar(every: float = LINE_SECONDS) -> Iterator[Show]:
    """Show a bar with a text, a percentage and the remaining time, and yield the function that updates it.

    Args:
        every: seconds between two lines without a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        due = at_intervals(every)

        def line(what: str, done: float, total: float) -> None:
            if due():
                click.echo(f"syclade: {done / max(total, 1e-9):.0%}, {what}", err=True)

        yield line
        return
    columns = (
        TextColumn("{task.percentage:3.0f} %"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=1)

        def show(what: str, done: float, total: float) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield show
