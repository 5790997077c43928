"""Progress on standard error: log lines, and below them a bar with the remaining time."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syclade.host.answer.inference import InferenceProgress

__all__ = ["Log", "Show", "at_intervals", "now_and_then", "progress_bar", "show_log", "time_left"]

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


@contextmanager
def progress_bar(quiet: bool, log: Log) -> Iterator[Show | None]:
    """Show a progress bar on standard error; without a terminal, print a line from time to time."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield now_and_then(log.tell)
        return
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

    It is empty where nothing is known: before the first steps of a resumed run, and after the steps that
    searches begin with.
    """
    left = max(state.steps_expected - state.steps_done, 0)
    if (not left and state.steps_total is None) or (left and not state.steps_per_second):
        return ""
    seconds = round(left / max(state.steps_per_second, 1e-9))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{clock} left" if state.steps_total is not None else f"at least {clock} left"
