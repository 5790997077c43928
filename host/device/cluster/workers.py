"""Workers: an executor whose processes do jobs of a run; and an executor that repeats calls of lost workers.

In CPython 3.11 to 3.13, a process pool looks for dead workers only while no answer arrives. If a worker
dies halfway through an answer, the pool waits for the rest, and the other workers wait for their turn to
answer. So such a pool is detected and broken.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, ParamSpec

from syclade.host.device.choice import Several
from syclade.host.device.cluster.jobs import Answer, Job, NotOpen, run_job
from syclade.host.ground.errors import OptionError, WorkersError
from syclade.host.ground.values import shown

__all__ = [
    "ALONE",
    "MOST_ATTEMPTS",
    "RetryingExecutor",
    "Workers",
    "break_pool",
    "dead_workers",
    "is_loss",
    "lost_too_often",
]

Given = ParamSpec("Given")

logger = logging.getLogger("syclade.workers")

MOST_ATTEMPTS = 20
"""Maximum number of attempts of a job whose worker is lost each time."""

MOST_RENEWALS = 100
"""Times that a broken process pool is replaced in one run."""

NOTICE_SECONDS = 5.0
"""Time between two looks at a process pool; a pool that does not miss a dead worker between them is stuck."""

ALONE = 3
"""Attempts after which a call of a process pool runs alone."""

_RESUME = "start the workers again, and resume the run from its checkpoint"


class Workers(Several):
    """Workers of an executor. A process pool that breaks is replaced by one with the same settings.

    Attributes:
        device: device that each worker uses, as for `choose_device`.
        pool: the executor in use now.

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
        self.pool = executor
        self._own: ProcessPoolExecutor | None = None
        self._renewals = 0
        self._renewing = threading.Lock()
        self._closed = threading.Event()
        if isinstance(executor, ProcessPoolExecutor):
            threading.Thread(target=_watch, args=(weakref.ref(self), self._closed), daemon=True).start()

    def count(self) -> int:
        """Return the number of workers now; 0 while none has come."""
        client = getattr(self.pool, "_client", None)
        if client is not None:
            try:
                return len(client.nthreads())
            except Exception as error:  # of distributed or its network library
                raise WorkersError(f"the scheduler does not answer: {error}", hint=_RESUME) from error
        return int(getattr(self.pool, "_max_workers", None) or os.cpu_count() or 1)

    @property
    def comes_and_goes(self) -> bool:
        """Return whether the number of workers changes."""
        return hasattr(self.pool, "_client")

    @property
    def lose_all(self) -> bool:
        """Return whether one lost worker loses the calls of all others, too."""
        return isinstance(self.pool, ProcessPoolExecutor)

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
            executor = self.pool
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
        executor = self.pool
        if isinstance(error, BrokenExecutor) and _is_broken(executor):
            self._renew(executor, error)

    def _renew(self, broken: Executor, error: BaseException) -> None:
        """Replace a broken executor, unless another thread has done that."""
        with self._renewing:
            if self.pool is not broken:
                return
            if not isinstance(broken, ProcessPoolExecutor) or self._renewals == MOST_RENEWALS:
                raise WorkersError(f"the executor is broken: {error}", hint=_RESUME) from error
            self._renewals += 1
            logger.warning("a worker process ended abruptly; its jobs are repeated by new ones")
            settings = vars(broken)
            self.pool = self._own = ProcessPoolExecutor(
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


class _Answer(Future[Answer]):
    """Future of a call, whichever worker does it in the end."""

    inner: Future[Answer] | None = None

    def cancel(self) -> bool:
        """Cancel the call if it has not begun."""
        if self.inner is not None and not (self.inner.done() or self.inner.cancel()):
            return False
        return super().cancel()


class _Call(NamedTuple, Generic[Answer]):
    """A call that waits for a worker: its future, what to call, and the number of the attempt, from 1."""

    answer: _Answer[Answer]
    function: Callable[[], Answer]
    attempt: int


class RetryingExecutor(Executor):
    """Executor over the workers of another one, which stays open: it repeats calls whose workers were lost.

    Where one lost worker loses the calls of all others too, as in a process pool, few calls are submitted at
    a time, and one that was lost several times runs alone: else a call that kills its workers would take
    others with it. Calls must be pure: one whose worker was lost may be done twice.

    Args:
        executor: the other one.

    Raises:
        OptionError: it is no executor.
    """

    def __init__(self, executor: Executor) -> None:
        self.workers = Workers(executor)
        # Callbacks run in threads of the executor, which must not wait for the executor itself.
        self._repeating = ThreadPoolExecutor(1, "syclade-repeat")
        self._waiting: deque[_Call[Any]] = deque()
        self._given = 0
        self._one_alone = False
        self._lock = threading.Lock()

    def submit(
        self, function: Callable[Given, Answer], /, *arguments: Given.args, **named: Given.kwargs
    ) -> Future[Answer]:
        """Submit a call; if the executor takes no more, its future has a WorkersError."""
        answer = _Answer[Answer]()
        with self._lock:
            self._waiting.append(_Call(answer, partial(function, *arguments, **named), 1))
        self._give()
        return answer

    def _give(self) -> None:
        """Submit the calls that the workers are to have now."""
        while (one := self._next()) is not None:
            try:
                inner = self.workers.call(one.function)
            except Exception as error:
                self._free()
                _fail(one.answer, error)
                continue
            one.answer.inner = inner
            inner.add_done_callback(partial(self._note, one))

    def _free(self) -> None:
        """Note that a call is no longer with the workers."""
        with self._lock:
            self._given -= 1
            self._one_alone = False

    def _next(self) -> _Call[Any] | None:
        """Take the next call that may be submitted; return None if there is none."""
        bounded = self.workers.lose_all
        with self._lock:
            while self._waiting and self._waiting[0].answer.cancelled():
                self._waiting.popleft()
            if not self._waiting or self._one_alone:
                return None
            alone = bounded and self._waiting[0].attempt > ALONE
            if bounded and self._given >= (1 if alone else 2 * self.workers.count()):
                return None
            self._given += 1
            self._one_alone = alone
            return self._waiting.popleft()

    def _note(self, one: _Call[Answer], inner: Future[Answer]) -> None:
        with contextlib.suppress(RuntimeError):  # the executor has ended: there is no call to repeat
            self._repeating.submit(self._ended, one, inner)

    def _ended(self, one: _Call[Answer], inner: Future[Answer]) -> None:
        """Pass on the answer of a call, or repeat the call if its worker was lost; then submit others."""
        self._free()
        try:
            if not one.answer.cancelled():
                one.answer.set_result(inner.result())
        except InvalidStateError:  # cancelled meanwhile
            pass
        except BaseException as error:
            if not is_loss(error):
                _fail(one.answer, error)
            elif one.attempt == MOST_ATTEMPTS:
                _fail(one.answer, lost_too_often(one.attempt, error))
            else:
                self._repeat(one, error)
        self._give()

    def _repeat(self, one: _Call[Answer], error: BaseException) -> None:
        """Queue a call whose worker was lost again, before calls that were not submitted yet."""
        try:
            self.workers.renew_after(error)
        except Exception as problem:
            _fail(one.answer, problem)
            return
        with self._lock:
            self._waiting.appendleft(one._replace(attempt=one.attempt + 1))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel the calls that wait, and shut down what this executor has started; the other stays open."""
        with self._lock:
            waiting = [*self._waiting]
            self._waiting.clear()
        for one in waiting:
            one.answer.cancel()
        self._repeating.shutdown(wait=wait, cancel_futures=cancel_futures)
        self.workers.close()


def _fail(answer: _Answer[Answer], error: BaseException) -> None:
    """End a future with an error, unless it was cancelled."""
    with contextlib.suppress(InvalidStateError):
        answer.set_exception(error)
