"""Run of a batch's tasks by a command: where they run, its progress, and what signals do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.commands.stopping import SignalStop

__all__ = ["Running", "running"]

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
    from syclade.host.commands.batch_text import progress_of_batch
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
