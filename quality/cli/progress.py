"""Progress bar on standard error, shown only in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Show", "progress_bar"]

Show = Callable[[str, float, float], None]
"""Called with the current activity, the amount done and the total."""


@contextmanager
def progress_bar() -> Iterator[Show]:
    """Show a bar with a text, a percentage and the remaining time, and yield the function that updates it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.percentage:3.0f} %"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1)

        def show(what: str, done: float, total: float) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield show
