"""Executor whose calls survive the loss of workers: they are repeated elsewhere.

Where one lost worker loses the calls of all others too, as in a process pool, few calls are submitted at a
time, and one that was lost several times runs alone: else a call that kills its workers would take others
with it.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from syclade.host.device.cluster.workers import MOST_ATTEMPTS, Workers, is_loss, lost_too_often

__all__ = ["ALONE", "RetryingExecutor"]

ALONE = 3
"""Attempts after which a call of a process pool runs alone."""


Given = ParamSpec("Given")
T = TypeVar("T")


class _Answer(Future[T]):
    """Future of a call, whichever worker does it in the end."""

    inner: Future[T] | None = None

    def cancel(self) -> bool:
        """Cancel the call if it has not begun."""
        if self.inner is not None and not (self.inner.done() or self.inner.cancel()):
            return False
        return super().cancel()


class _Call(NamedTuple, Generic[T]):
    """A call that waits for a worker: its future, what to call, and the number of the attempt, from 1."""

    answer: _Answer[T]
    function: Callable[[], T]
    attempt: int


class RetryingExecutor(Executor):
    """Executor over the workers of another one, which stays open.

    Calls must be pure: one whose worker was lost may be done twice.

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
        self, function: Callable[Given, T], /, *arguments: Given.args, **named: Given.kwargs
    ) -> Future[T]:
        """Submit a call; if the executor takes no more, its future has a WorkersError."""
        answer = _Answer[T]()
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

    def _note(self, one: _Call[T], inner: Future[T]) -> None:
        with contextlib.suppress(RuntimeError):  # the executor has ended: there is no call to repeat
            self._repeating.submit(self._ended, one, inner)

    def _ended(self, one: _Call[T], inner: Future[T]) -> None:
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

    def _repeat(self, one: _Call[T], error: BaseException) -> None:
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


def _fail(answer: _Answer[T], error: BaseException) -> None:
    """End a future with an error, unless it was cancelled."""
    with contextlib.suppress(InvalidStateError):
        answer.set_exception(error)
