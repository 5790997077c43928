"""Progress on standard error: log lines, and below them a bar with the remaining time.

Of a batch, too: what runs its tasks (threads of this process, or workers), with their progress and signals.
"""

from __future__ import annotations

import errno
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from syclade.host.commands.process import SignalStop, stopped_by_signals
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.answer.batch.results_table import Line
    from syclade.host.answer.inference import InferenceProgress

__all__ = [
    "Log", "Running", "Show", "at_intervals", "now_and_then", "on_terminal", "progress_bar", "running",
    "show_log", "time_left",
]  # fmt: skip

LINE_SECONDS = 30.0
"""Seconds between two progress lines without a terminal."""

_FEW_STEPS = 5 * 10**4
"""Fewest steps that are shown: fewer, as before a search, are none in millions."""

WIDE = 180
"""Columns that a terminal needs to show acceptance rates beside the bar."""

Show = Callable[["InferenceProgress"], None]


_INPUT = "syclade.input"
"""Logger of messages on the matrix and what goes with it."""


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""Errors of a full disk: where standard error is a file on it, the run goes on without the message."""

_STOPPING = "stopping without the matrices in progress; once more stops at once"
_LOGGED = ("syclade.workers", "syclade.batch")
"""Loggers whose messages are shown without `--verbose`; those of single runs would be one for each matrix."""


class Log(logging.Handler):
    """Log handler for standard error; a visible progress bar replaces `tell` to print above itself.

    A batch replaces `matrix_of`, so that messages on an input begin with the name of its matrix.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tell: Callable[[str], None] = self._echo
        self.matrix_of: Callable[[], str | None] = lambda: None
        self._shown: set[str] = set()

    @staticmethod
    def _echo(text: str) -> None:
        try:
            click.echo(text, err=True)
        except OSError as error:
            if error.errno not in _FULL:
                raise

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message, unless it was printed before."""
        message = record.getMessage()
        matrix = self.matrix_of() if record.name == _INPUT else None
        if matrix is not None:
            message = f"{matrix}: {message}"
        if message not in self._shown:  # searches and the chains that start from them may say the same
            self._shown.add(message)
            kind = "warning: " if record.levelno >= logging.WARNING else ""
            self.tell(f"syclade: {kind}{message}")


def show_log(quiet: bool, verbose: bool) -> Log:
    """Show the log on standard error: the chosen device, and slow operations; only warnings when quiet."""
    handler = Log()
    logger = logging.getLogger("syclade")
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
    return handler


def on_terminal() -> bool:
    """Return whether standard error is a terminal, which alone shows bars: rich takes 30 ms to import."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bar(quiet: bool, log: Log) -> Iterator[Show | None]:
    """Show a progress bar on standard error; without a terminal, print a line from time to time."""
    if quiet:
        yield None
        return
    if not on_terminal():
        yield now_and_then(log.tell)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    echo = log.tell
    with Progress(*columns, console=console, transient=True) as bar:
        log.tell = lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
        task = bar.add_task("starting", total=None)

        def show(state: InferenceProgress) -> None:
            words = _in_words(state) + (_accepted(state) if console.width >= WIDE else "")
            # a search has no steps ahead, and a bar that reaches its total stops its clock
            known = state.steps_expected > state.steps_done
            bar.tasks[task].total = state.steps_expected if known else None
            bar.update(task, description=words, completed=state.steps_done)

        try:
            yield show
        finally:
            log.tell = echo


def now_and_then(tell: Callable[[str], None], every: float = LINE_SECONDS) -> Show:
    """Return a callback that reports progress as a line, at most once per `every` seconds, not at once."""
    due = at_intervals(every)

    def show(state: InferenceProgress) -> None:
        if due():
            tell(f"syclade: {_in_words(state)}{_accepted(state)}")

    return show


def at_intervals(every: float) -> Callable[[], bool]:
    """Return a function that is true at most once per `every` seconds, and not at once."""
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        if time.monotonic() - last < every:
            return False
        last = time.monotonic()
        return True

    return due


def _in_words(state: InferenceProgress) -> str:
    steps = f"{state.steps_done / 1e6:.1f} Msteps" if state.steps_done >= _FEW_STEPS else ""
    speed = f"{state.steps_per_second / 1e3:.0f} ksteps/s" if steps and state.steps_per_second else ""
    best = f"best {state.log_likelihood:.4f}"
    return ", ".join(filter(None, (steps, speed, best, time_left(state))))


def _accepted(state: InferenceProgress) -> str:
    """Return the acceptance rate of each kind of move as text; empty while unknown."""
    text = ", ".join(f"{kind} {share:.0%}" for kind, share in state.acceptance.items())
    return f"; accepted: {text}" if text else ""


def time_left(state: InferenceProgress) -> str:
    """Return the remaining time as text, a lower bound if the chains decide when to stop.

    It is empty where nothing is known: while the speed is not, and after the steps that searches begin with.
    """
    left = max(state.steps_expected - state.steps_done, 0)
    if (not left and state.steps_total is None) or (left and not state.steps_per_second):
        return ""
    seconds = round(left / max(state.steps_per_second, 1e-9))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{clock} left" if state.steps_total is not None else f"at least {clock} left"


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
        stopped_by_signals(_STOPPING) as stop,
        _progress(count, quiet, log) as report,
        _workers_of(scheduler) if scheduler else own_threads(at_once) as pool,
    ):
        stop.begun = True
        yield Running(pool, AT_A_TIME if scheduler else 2 * at_once, report, stop)


@contextmanager
def _workers_of(scheduler: str) -> Iterator[Executor]:
    """Yield an executor on the workers of a scheduler, which repeats the calls of lost workers."""
    from syclade.host.device.cluster.scheduler import open_scheduler
    from syclade.host.device.cluster.workers import RetryingExecutor

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
    shows = not quiet and on_terminal()
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
