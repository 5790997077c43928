"""Ctrl-C and SIGTERM while a run goes on: it ends with the best tree so far; the second time, at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from syclade.host.running import Stop

__all__ = ["SignalStop", "stopped_by_signals"]

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, name))


class SignalStop(Stop):
    """A wish to stop that a signal made.

    Attributes:
        number: of the signal; 0 before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @property
    def status(self) -> int:
        """The exit status that shells expect: 128 and the signal's number."""
        return 128 + self.number


@contextmanager
def stopped_by_signals() -> Iterator[SignalStop]:
    """A wish that Ctrl-C and SIGTERM make while the context lasts, once the run can see it.

    Before its first launch, and the second time, a signal does what it did before.
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
            if found not in (None, signal.SIG_IGN):  # what a shell's background job ignores stays ignored
                before[number] = found
                signal.signal(number, take)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
