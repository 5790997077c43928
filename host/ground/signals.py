"""Stop requests; SIGINT and SIGTERM are delayed for steps that must not stay half done, and contexts end in
any case."""

from __future__ import annotations

import atexit
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from types import FrameType

__all__ = ["Stop", "Stopped", "closed_at_exit", "finishing", "give_way", "stop_wanted", "uninterrupted"]

Handler = int | Callable[[int, FrameType | None], object] | None


class Stopped(Exception):
    """Raised between two launches when a stop was requested; the results so far are kept."""


class Stop:
    """A stop request, which may come at any time from a signal handler or another thread.

    Attributes:
        wanted: whether a stop was requested.
        begun: whether a run has begun that checks for requests, between two launches.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.begun = False

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Let `stop_wanted` answer for this request in the context, which is of one thread."""
        token = _heeded.set(self)
        try:
            yield
        finally:
            _heeded.reset(token)


_heeded: ContextVar[Stop | None] = ContextVar("heeded", default=None)
_finishing: ContextVar[bool] = ContextVar("finishing", default=False)


def stop_wanted() -> bool:
    """Return whether a stop was requested in a context that heeds it: what takes seconds then ends sooner.

    Computations far below a run ask this, which have no other use for its stop request.
    """
    stop = _heeded.get()
    return stop is not None and stop.wanted


def give_way() -> None:
    """Raise `Stopped` if a stop was requested in a context that heeds it, unless its end is being made."""
    if stop_wanted() and not _finishing.get():
        raise Stopped


@contextmanager
def finishing() -> Iterator[None]:
    """Let `give_way` do nothing in the context, which makes what a run leaves after `Stopped`."""
    token = _finishing.set(True)
    try:
        yield
    finally:
        _finishing.reset(token)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay both signals to the end of the context; then their handlers run, once each.

    Handlers run in the main thread only, so in other threads there is nothing to delay.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []
    before: dict[signal.Signals, Handler] = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if handler not in (None, signal.SIG_IGN):
                before[number] = handler
                signal.signal(number, lambda number, _: seen.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(seen):
            signal.raise_signal(late)


@contextmanager
def closed_at_exit() -> Iterator[ExitStack]:
    """Yield a stack that is closed at the end of the context, and otherwise when the program ends.

    A signal on the way into a context may skip its end.
    """
    stack = ExitStack()
    try:
        atexit.register(stack.close)
        yield stack
    finally:
        with uninterrupted():
            stack.close()
            atexit.unregister(stack.close)
