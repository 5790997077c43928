"""Calls of a function for many items on any executor, with a bounded number of calls at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from syclade.host.chains.runs.task import Stop
from syclade.host.device.cores import cores_of_process, take_share
from syclade.host.ground.values import whole

__all__ = ["AHEAD", "call_each", "jobs_for", "own_threads"]

Item = TypeVar("Item")
Value = TypeVar("Value")

AHEAD = 1000
"""Most calls that wait in an executor, so that memory does not grow with the number of items."""

WAIT_SECONDS = 0.5
"""Longest wait for a call before stop requests are checked: there may be no worker yet."""


def call_each(
    function: Callable[[Item], Value],
    items: Iterable[Item],
    executor: Executor,
    *,
    ordered: bool = False,
    ahead: int = AHEAD,
    stop: Stop | None = None,
) -> Iterator[tuple[int, Future[Value]]]:
    """Yield the number of each item and the finished call of the function for it.

    When the iteration is left early, calls that have not begun are cancelled.

    Args:
        function, items: where the executor has processes, both must be picklable, and the values, too.
        executor: any executor.
        ordered: whether to yield the calls in the order of the items, not as they finish.
        ahead: most calls at a time, in progress or waiting for the executor.
        stop: a stop request: only the calls in progress are then awaited.
    """
    numbered: Iterator[tuple[int, Item]] = enumerate(items)
    waiting: dict[Future[Value], int] = {}
    try:
        while True:
            if stop is not None and stop.wanted:
                numbered = iter(())
                waiting = {future: number for future, number in waiting.items() if not future.cancel()}
            while len(waiting) < ahead and (item := next(numbered, None)) is not None:
                waiting[executor.submit(function, item[1])] = item[0]
            if not waiting:
                return
            watched = [next(iter(waiting))] if ordered else waiting
            done, _ = wait(watched, WAIT_SECONDS, FIRST_COMPLETED)
            for future in sorted(done, key=waiting.__getitem__):
                yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def own_threads(jobs: int) -> ThreadPoolExecutor:
    """Return threads of this process, which share its cores evenly.

    Kernels run without Python's lock, so one matrix on each core is faster than one after another on all
    cores: a small matrix waits for its slowest slot at every launch.

    Args:
        jobs: number of threads.
    """
    share = max(1, cores_of_process() // jobs)
    return ThreadPoolExecutor(jobs, initializer=take_share, initargs=(share,))


def jobs_for(tasks: int | None, jobs: int | None = None) -> int:
    """Return the number of tasks at a time: as many as asked for, or one on each core.

    Args:
        tasks: number of tasks; None if unknown.
        jobs: tasks at a time; None for one on each core.

    Raises:
        OptionError: `jobs` is no number of tasks.
    """
    at_once = cores_of_process() if jobs is None else whole("jobs", jobs, 1, 2**15)
    return max(1, at_once if tasks is None else min(at_once, tasks))
