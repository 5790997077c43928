"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Show", "progress_bar"]

Show = Callable[[str, float, float], None]
"""Takes what is being done, and how much of how much is done."""


@contextmanager
def progress_bar() -> Iterator[Show]:
    """A bar with a text, a percentage and the time that is left."""
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
