"""Run of a batch's tasks by a command: where they run, progress and summary, and what signals do."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from syclade.host.answer.batch.names import MATRICES
from syclade.host.commands.progress import LINE_SECONDS, at_intervals
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.commands.progress import Log
    from syclade.host.commands.stopping import SignalStop

__all__ = ["Running", "ending", "progress_of_batch", "running"]


_MESSAGE = "stopping without the matrices in progress; once more stops at once"
_LOGGED = ("syclade.workers", "syclade.batch")
"""Loggers whose messages are shown without `--verbose`; those of single runs would be one for each matrix."""


class Running(NamedTuple):
    """Means to run tasks.

    Attributes:
        pool: where they run.
        ahead: most of them at a time, in progress or waiting for the pool.
        told: to be called with the line of each as it ends.
        stop: the stop request, set by the first signal.
    """

    pool: Executor
    ahead: int
    told: Callable[[dict[str, Any]], None]
    stop: SignalStop


@contextmanager
def running(
    count: int, jobs: int | None, *, scheduler: str | None = None, quiet: bool, verbose: bool
) -> Iterator[Running]:
    """Open what runs a number of tasks, and show their progress.

    Until all of it is open, a signal ends the program, as nothing has run; then the first one is a stop
    request.

    Args:
        count: number of tasks.
        jobs: tasks at a time in threads of this process; None for one on each core.
        scheduler: workers in place of threads, as for `open_scheduler`.
        quiet, verbose: options of the command.
    """
    from syclade.host.answer.batch.executor_map import AHEAD, jobs_for, own_threads
    from syclade.host.commands.batch_run import progress_of_batch
    from syclade.host.commands.progress import show_log
    from syclade.host.commands.stopping import stopped_by_signals

    log = show_log(not verbose, verbose)
    if not quiet:
        for name in _LOGGED:
            logging.getLogger(name).setLevel(logging.INFO)
    at_once = jobs_for(count, jobs)
    with (
        stopped_by_signals(_MESSAGE) as stop,
        progress_of_batch(count, quiet, log) as told,
        _workers_of(scheduler) if scheduler else own_threads(at_once) as pool,
    ):
        stop.begun = True
        yield Running(pool, AHEAD if scheduler else 2 * at_once, told, stop)


@contextmanager
def _workers_of(scheduler: str) -> Iterator[Executor]:
    """Yield an executor of the workers of a scheduler, which repeats what lost workers had in progress."""
    from syclade.host.device.cluster.retrying_executor import RetryingExecutor
    from syclade.host.device.cluster.scheduler import open_scheduler

    with open_scheduler(scheduler) as workers, RetryingExecutor(workers) as lasting:
        yield lasting


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
