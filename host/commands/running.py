"""Running of batches for commands: in threads of this process or by workers, with progress and signals."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from syclade.host.commands.process import SignalStop, stopped_by_signals
from syclade.host.commands.progress import LINE_SECONDS, Log, at_intervals, show_log
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.results_table import Line

__all__ = ["Running", "ending", "run_here", "running"]


_MESSAGE = "stopping without the matrices in progress; once more stops at once"
_LOGGED = ("syclade.workers", "syclade.batch")
"""Loggers whose messages are shown without `--verbose`; those of single runs would be one for each matrix."""


class Running(NamedTuple):
    """Means to run tasks.

    Attributes:
        pool: where they run.
        at_a_time: most of them at a time, in progress or waiting for the pool.
        report: to be called with the line of each as it ends.
        stop: the stop request, set by the first signal.
    """

    pool: Executor
    at_a_time: int
    report: Callable[[Line], None]
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
    from syclade.host.answer.batch.many import AT_A_TIME, jobs_for, own_threads
    from syclade.host.answer.batch.run_task import MATRIX

    log = show_log(not verbose, verbose)
    log.matrix_of = MATRIX.get
    if not quiet:
        for name in _LOGGED:
            logging.getLogger(name).setLevel(logging.INFO)
    at_once = jobs_for(count, jobs)
    with (
        stopped_by_signals(_MESSAGE) as stop,
        _progress(count, quiet, log) as report,
        _workers_of(scheduler) if scheduler else own_threads(at_once) as pool,
    ):
        stop.begun = True
        yield Running(pool, AT_A_TIME if scheduler else 2 * at_once, report, stop)


@contextmanager
def _workers_of(scheduler: str) -> Iterator[Executor]:
    """Yield an executor on the workers of a scheduler, which repeats the calls of lost workers."""
    from syclade.host.device.cluster.retrying_executor import RetryingExecutor
    from syclade.host.device.cluster.scheduler import open_scheduler

    with open_scheduler(scheduler) as workers, RetryingExecutor(workers) as retrying:
        yield retrying


@contextmanager
def _progress(total: int, quiet: bool, log: Log) -> Iterator[Callable[[Line], None]]:
    """Show how many matrices are done, and each that fails: a bar on a terminal, else a line at times.

    Args:
        total: number of matrices.
        quiet: whether to show failures only.
        log: the log, which the bar prints above itself.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from syclade.host.answer.batch.task import MATRICES

    ended = 0
    console = Console(stderr=True)
    shows = not quiet and console.is_terminal
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    echo, due = log.tell, at_intervals(LINE_SECONDS)
    with Progress(*columns, console=console, transient=True, disable=not shows) as bar:
        if shows:
            log.tell = lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
        at = bar.add_task("", total=total)

        def report(line: Line) -> None:
            nonlocal ended
            ended += 1
            if line["state"] == "failed":
                log.tell(f"syclade: {line['name']}: {line['error']}")
            bar.advance(at)
            if not (quiet or shows) and due():
                log.tell(f"syclade: {ended} of {counted(total, *MATRICES)}")

        try:
            yield report
        finally:
            log.tell = echo


def ending(lines: Sequence[Line], folder: Path, *, quiet: bool, as_json: bool) -> int:
    """Print how many matrices have a result, or all lines as JSON; return the exit status.

    Args:
        lines: the lines of the matrices.
        folder: the folder of the batch.
        quiet: whether to print nothing.
        as_json: whether to print the lines.
    """
    from syclade.host.answer.batch.task import MATRICES

    states = Counter(line["state"] for line in lines)
    if as_json:
        click.echo(json.dumps(lines, indent=2))
    elif not quiet:
        words = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        number = counted(len(lines), *MATRICES)
        warned = sum(bool(line.get("warnings")) for line in lines)
        more = f" ({warned} with warnings, see results.tsv)" if warned else ""
        click.echo(f"{number}: {words or 'nothing to do'}{more}; results are in {folder}")
    return 0 if states["done"] == len(lines) else 1


def run_here(
    batch: Batch,
    *,
    scheduler: str | None = None,
    jobs: int | None,
    prepare: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run a batch in this process or by workers, or only prepare it; return the exit status.

    Args:
        batch: the batch.
        scheduler: as for `open_scheduler`; None for this process.
        jobs: matrices at a time; None for one on each core.
        prepare: whether to write its tasks only.
        force, as_json, quiet, verbose: options of the command.

    Raises:
        OutputError: the folder cannot be written, has another batch, or another process runs this one.
    """
    from syclade.host.answer.batch.folder import check_earlier, run_batch, write_batch
    from syclade.host.answer.batch.run_task import Place
    from syclade.host.answer.batch.task import MATRICES

    if scheduler and jobs:
        raise OptionError(
            f"--jobs does not go with {flag_of('scheduler')}",
            hint="the scheduler has its own number of workers",
        )
    if prepare:
        write_batch(batch, force)
        if not quiet:
            written = counted(len(batch.tasks), *MATRICES)
            click.echo(f"wrote {written} to {batch.folder}: run parts, then gather")
        return 0
    check_earlier(batch, force)  # before workers are started
    with running(len(batch.tasks), jobs, scheduler=scheduler, quiet=quiet, verbose=verbose) as run:
        place = Place(batch.folder.absolute(), force, run.stop)
        lines = run_batch(batch, run.pool, place, run.report, run.at_a_time)
    return run.stop.status or ending(lines, batch.folder, quiet=quiet, as_json=as_json)
