"""Ctrl-C and SIGTERM during a run: the first signal ends it with the best tree so far, the second at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from syclade.host.runs.task import Stop

__all__ = ["SignalStop", "stopped_by_signals"]

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, name))


class SignalStop(Stop):
    """A stop request set by a signal.

    Attributes:
        number: number of the signal; 0 before any.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @property
    def status(self) -> int:
        """Exit status by the convention of shells: 128 plus the number of the signal."""
        return 128 + self.number


@contextmanager
def stopped_by_signals() -> Iterator[SignalStop]:
    """Turn Ctrl-C and SIGTERM into a stop request inside the context.

    The previous handlers still apply before the first launch ends, when no run can see the request, and to
    every signal after the first.
    """
    stop = SignalStop()
    before: dict[int, Any] = {}

    def take(number: int, frame: FrameType | None) -> None:
        if stop.begun and not stop.wanted:
            stop.number = number
            stop.wanted = True
            click.echo("syclade: stopping with the best tree so far; once more stops at once", err=True)
            return
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        else:
            signal.signal(number, handler)
            signal.raise_signal(number)

    try:
        for number in _SIGNALS:
            found = signal.getsignal(number)
            # Signals ignored by a shell's background job stay ignored.
            if found not in (None, signal.SIG_IGN):
                before[number] = found
                signal.signal(number, take)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
