"""Workers: an executor whose processes do jobs of a run, and how many there are.

In CPython 3.11 to 3.13, a process pool looks for dead workers only while no answer arrives. If a worker
dies halfway through an answer, the pool waits for the rest, and the other workers wait for their turn to
answer. So such a pool is detected and broken.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from typing import ParamSpec

from syclade.host.device.choice import Several
from syclade.host.device.cluster.jobs import Answer, Job, NotOpen, run_job
from syclade.host.ground.errors import OptionError, WorkersError
from syclade.host.ground.values import shown

__all__ = ["MOST_ATTEMPTS", "Workers", "break_pool", "dead_workers", "is_loss", "lost_too_often"]


Given = ParamSpec("Given")

logger = logging.getLogger("syclade.workers")

MOST_ATTEMPTS = 20
"""Maximum number of attempts of a job whose worker is lost each time."""

MOST_RENEWALS = 100
"""Times that a broken process pool is replaced in one run."""

NOTICE_SECONDS = 5.0
"""Time between two looks at a process pool; a pool that does not miss a dead worker between them is stuck."""


class Workers(Several):
    """Workers of an executor. A process pool that breaks is replaced by one with the same settings.

    Attributes:
        device: device that each worker uses, as for `choose_device`.

    Args:
        executor: any executor; it stays open.
        device: as the attribute.

    Raises:
        OptionError: `executor` is none.
    """

    def __init__(self, executor: Executor, device: str = "auto") -> None:
        if not isinstance(executor, Executor):
            raise OptionError(
                f"the executor is {shown(executor)}",
                hint="give a concurrent.futures.Executor, such as Client.get_executor() of dask.distributed",
            )
        self.device = device
        self._executor = executor
        self._own: ProcessPoolExecutor | None = None
        self._renewals = 0
        self._renewing = threading.Lock()
        self._closed = threading.Event()
        if isinstance(executor, ProcessPoolExecutor):
            threading.Thread(target=_watch, args=(weakref.ref(self), self._closed), daemon=True).start()

    @property
    def pool(self) -> Executor:
        """The executor in use now."""
        return self._executor

    def count(self) -> int:
        """Return the number of workers now; 0 while none has come."""
        client = getattr(self._executor, "_client", None)
        if client is not None:
            try:
                return len(client.nthreads())
            except Exception as error:  # of distributed or its network library
                raise WorkersError(f"the scheduler does not answer: {error}", hint=_RESUME) from error
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    @property
    def comes_and_goes(self) -> bool:
        """Return whether the number of workers changes."""
        return hasattr(self._executor, "_client")

    @property
    def lose_all(self) -> bool:
        """Return whether one lost worker loses the calls of all others, too."""
        return isinstance(self._executor, ProcessPoolExecutor)

    def submit(self, job: Job[Answer]) -> Future[Answer | NotOpen]:
        """Submit a job.

        Raises:
            WorkersError: the executor takes no more jobs.
        """
        return self.call(run_job, job)

    def call(
        self, function: Callable[Given, Answer], *arguments: Given.args, **named: Given.kwargs
    ) -> Future[Answer]:
        """Submit a call.

        Raises:
            WorkersError: the executor takes no more calls.
        """
        while True:
            executor = self._executor
            try:
                return executor.submit(function, *arguments, **named)
            except BrokenExecutor as error:
                self._renew(executor, error)
            except RuntimeError as error:
                raise WorkersError(f"the executor takes no jobs: {error}", hint=_RESUME) from error

    def renew_after(self, error: BaseException) -> None:
        """Replace the executor if an error of one of its jobs says that it is broken.

        Raises:
            WorkersError: it cannot be replaced.
        """
        executor = self._executor
        if isinstance(error, BrokenExecutor) and _is_broken(executor):
            self._renew(executor, error)

    def _renew(self, broken: Executor, error: BaseException) -> None:
        """Replace a broken executor, unless another thread has done that."""
        with self._renewing:
            if self._executor is not broken:
                return
            if not isinstance(broken, ProcessPoolExecutor) or self._renewals == MOST_RENEWALS:
                raise WorkersError(f"the executor is broken: {error}", hint=_RESUME) from error
            self._renewals += 1
            logger.warning("a worker process ended abruptly; its jobs are repeated by new ones")
            settings = vars(broken)
            self._executor = self._own = ProcessPoolExecutor(
                settings["_max_workers"],
                mp_context=settings["_mp_context"],
                initializer=settings["_initializer"],
                initargs=settings["_initargs"],
            )
            broken.shutdown(wait=False)

    def close(self) -> None:
        """Shut down the executor if it is a replacement; no longer watch it."""
        self._closed.set()
        if self._own is not None:
            end_pool(self._own)
            self._own = None


def _watch(workers: weakref.ref[Workers], closed: threading.Event) -> None:
    """Break the process pool of workers if it does not notice that one of its processes has ended."""
    missed: set[int] = set()
    while not closed.wait(NOTICE_SECONDS):
        watched = workers()
        if watched is None:
            return
        pool = watched.pool
        if isinstance(pool, ProcessPoolExecutor):
            dead = set() if _is_broken(pool) else dead_workers(pool)
            if dead & missed:
                break_pool(pool)
            missed = dead
        del watched, pool


_RESUME = "start the workers again, and resume the run from its checkpoint"


def _is_broken(executor: Executor) -> bool:
    return bool(getattr(executor, "_broken", True))


def lost_too_often(times: int, error: BaseException) -> WorkersError:
    """Return the error for a job whose worker was lost every time."""
    return WorkersError(
        f"a job was lost {times} times: {type(error).__name__}: {error}",
        hint="look at the logs of the workers, whose memory may not suffice",
    )


def is_loss(error: BaseException) -> bool:
    """Return whether an error says that a worker was lost, not that its job is wrong."""
    kinds = type(error).__mro__
    return isinstance(error, (BrokenExecutor, CancelledError)) or any(
        kind.__module__.partition(".")[0] == "distributed" for kind in kinds
    )


def dead_workers(pool: ProcessPoolExecutor) -> set[int]:
    """Return the process numbers of workers that have ended, and that the pool has not yet missed."""
    return {number for number, process in _processes_of(pool).items() if process.exitcode is not None}


def _processes_of(pool: ProcessPoolExecutor) -> dict[int, BaseProcess]:
    """Return the workers of a pool by number; none before its first call, and after its end."""
    return dict(vars(pool).get("_processes") or {})


def end_pool(pool: ProcessPoolExecutor) -> None:
    """Shut a pool down, also if a worker is killed meanwhile.

    CPython no longer looks for dead workers then, and waits for the others, which may wait forever for a lock
    that the dead one held.
    """
    processes = _processes_of(pool).values()
    manager = vars(pool).get("_executor_manager_thread")
    pool.shutdown(wait=False, cancel_futures=True)
    while manager is not None and manager.is_alive():
        dead = any(process.exitcode for process in processes)
        manager.join(NOTICE_SECONDS)
        if dead:
            for process in processes:
                process.kill()


def break_pool(pool: ProcessPoolExecutor) -> None:
    """End all processes of a pool, and its wait for answers: its calls fail with `BrokenProcessPool`."""
    for process in _processes_of(pool).values():
        process.kill()
        process.join()
    answers = vars(pool).get("_result_queue")
    if answers is not None:
        answers._writer.close()
