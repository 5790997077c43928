"""Executor whose calls survive the loss of workers: they are repeated elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from functools import partial
from typing import Any

from syclade.host.cluster.workers import MOST_ATTEMPTS, Workers, is_loss, lost_too_often

__all__ = ["Lasting"]


class _Answer(Future[Any]):
    """Future of a call, whichever worker does it in the end."""

    inner: Future[Any] | None = None

    def cancel(self) -> bool:
        """Cancel the call if it has not begun."""
        if self.inner is not None and not (self.inner.done() or self.inner.cancel()):
            return False
        return super().cancel()


class Lasting(Executor):
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

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Hand in a call.

        Raises:
            WorkersError: the executor takes no more calls.
        """
        answer = _Answer()
        self._give(answer, partial(function, *arguments, **named), 1)
        return answer

    def _give(self, answer: _Answer, call: Callable[[], Any], attempt: int) -> None:
        answer.inner = self.workers.call(call)
        answer.inner.add_done_callback(
            lambda inner: self._repeating.submit(self._ended, answer, call, attempt, inner)
        )

    def _ended(self, answer: _Answer, call: Callable[[], Any], attempt: int, inner: Future[Any]) -> None:
        """Pass on the answer of a call, or repeat the call if its worker was lost."""
        if answer.cancelled():
            return
        try:
            answer.set_result(inner.result())
        except InvalidStateError:  # cancelled meanwhile
            pass
        except BaseException as error:
            if not is_loss(error):
                answer.set_exception(error)
            elif attempt == MOST_ATTEMPTS:
                answer.set_exception(lost_too_often(attempt, error))
            else:
                self._repeat(answer, call, attempt, error)

    def _repeat(self, answer: _Answer, call: Callable[[], Any], attempt: int, error: BaseException) -> None:
        try:
            self.workers.renew_after(error)
            self._give(answer, call, attempt + 1)
        except Exception as problem:
            answer.set_exception(problem)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down what this executor has started; the other one stays open."""
        self._repeating.shutdown(wait=wait, cancel_futures=cancel_futures)
        self.workers.close()
