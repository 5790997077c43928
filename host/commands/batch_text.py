"""Output of batches: progress on standard error, and the summary at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.answer.batch.names import MATRICES
from syclade.host.commands.progress import LINE_SECONDS, at_intervals
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from syclade.host.commands.progress import Log

__all__ = ["ending", "progress_of_batch"]


@contextmanager
def progress_of_batch(total: int, quiet: bool, log: Log) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show how many matrices are done, and each that fails: a bar on a terminal, else a line at times.

    Args:
        total: number of matrices.
        quiet: whether to show failures only.
        log: the log, which the bar prints above itself.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    ended = 0
    console = Console(stderr=True)
    shows = not quiet and console.is_terminal
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    echo, due = log.tell, at_intervals(LINE_SECONDS)
    with Progress(*columns, console=console, transient=True, disable=not shows) as bar:
        if shows:
            log.tell = lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
        at = bar.add_task("", total=total)

        def told(line: dict[str, Any]) -> None:
            nonlocal ended
            ended += 1
            if line["state"] == "failed":
                log.tell(f"syclade: {line['name']}: {line['error']}")
            bar.advance(at)
            if not (quiet or shows) and due():
                log.tell(f"syclade: {ended} of {counted(total, *MATRICES)}")

        try:
            yield told
        finally:
            log.tell = echo


def ending(lines: Sequence[dict[str, Any]], folder: Path, *, quiet: bool, as_json: bool) -> int:
    """Print how many matrices have a result, or all lines as JSON; return the exit status.

    Args:
        lines: the lines of the matrices.
        folder: the folder of the batch.
        quiet: whether to print nothing.
        as_json: whether to print the lines.
    """
    states = Counter(line["state"] for line in lines)
    if as_json:
        click.echo(json.dumps(lines, indent=2))
    elif not quiet:
        words = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        number = counted(len(lines), *MATRICES)
        click.echo(f"{number}: {words or 'nothing to do'}; results are in {folder}")
    return 0 if states["done"] == len(lines) else 1
