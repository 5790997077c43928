"""SIGINT and SIGTERM: the program ends cleanly at any time, but never in the middle of an import.

In a run, the first one ends it with the best tree so far, and the second ends it at once.

A partly executed import can cause arbitrary failures later, and its traceback is of no use. So the
exception is delayed until the import is over. A signal is not repeated: another one within a moment comes
from a program that sends it twice, such as GNU timeout.
"""

from __future__ import annotations

import _thread
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from syclade.host.ground.signals import Stop

__all__ = [
    "REPEAT",
    "SignalStop",
    "end_at_once",
    "handle_interrupts",
    "interrupted",
    "offered_to",
    "stopped_by_signals",
]


REPEAT = 0.5
"""Seconds after a signal in which others are taken for the same one."""

RETRY = 0.02  # seconds between two checks whether the import is over

_IMPORT = "<frozen importlib._bootstrap>"
_BEFORE = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""Handlers to replace: with others, this process ignores the signal (a shell's background job)."""

_seen = 0
_last = -REPEAT
_again = False
_looking = False
_take: Callable[[int], bool] | None = None


def handle_interrupts() -> None:
    """Let both signals raise a KeyboardInterrupt, unless this process ignores them.

    Call this only from a program, in its main thread.
    """
    for number, before in _BEFORE.items():
        if signal.getsignal(number) is before:
            signal.signal(number, _interrupt)


def end_at_once() -> None:
    """Restore the default action: from now on both signals just end the process."""
    for number in _BEFORE:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_DFL)


def interrupted() -> int:
    """Return the number of the signal that ends the program, even if its exception was lost; 0 for none."""
    return _seen


@contextmanager
def offered_to(take: Callable[[int], bool]) -> Iterator[None]:
    """Offer signals to a function first: (number) -> whether it has taken the signal."""
    global _take
    before, _take = _take, take
    try:
        yield
    finally:
        _take = before


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _seen, _last, _again, _looking
    delayed, _looking = _looking, False
    if not delayed:
        if time.monotonic() - _last < REPEAT:
            return
        _last, _again = time.monotonic(), _seen != 0
        if _take is not None and _take(number):
            _seen = 0
            return
    _seen = number
    if _again or not _importing(frame):
        raise KeyboardInterrupt
    _thread.start_new_thread(_look_again, (number,))


def _look_again(number: int) -> None:
    global _looking
    time.sleep(RETRY)
    _looking = True
    _thread.interrupt_main(signal.Signals(number))


def _importing(frame: FrameType | None) -> bool:
    """Return whether a frame or one of its callers is an import."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False


BEST_SO_FAR = "stopping with the best tree so far; once more stops at once"


class SignalStop(Stop):
    """A stop request set by a signal.

    Attributes:
        number: number of the signal; 0 before any.
        message: what the first signal does.
    """

    def __init__(self, message: str = BEST_SO_FAR) -> None:
        super().__init__()
        self.number = 0
        self.message = message

    @property
    def begun(self) -> bool:
        """Return whether a run has begun that checks for requests."""
        return self._begun

    @begun.setter
    def begun(self, begun: bool) -> None:
        """Note that a run has begun; end the program if a signal came before it.

        The exception of such a signal is lost if it is raised in a callback, such as one of LLVM.
        """
        self._begun = begun
        if begun and not self.number and interrupted():
            raise KeyboardInterrupt

    @property
    def status(self) -> int:
        """Exit status: 0, or after a signal 128 plus its number, by the convention of shells."""
        return 128 + self.number if self.number else 0

    def take(self, number: int) -> bool:
        """Take the first signal, if a run has begun; return whether it was taken."""
        if self.wanted or not self.begun:
            return False
        self.number, self.wanted = number, True
        if sys.stderr is not None:
            print(f"syclade: {self.message}", file=sys.stderr, flush=True)
        return True


@contextmanager
def stopped_by_signals(message: str = BEST_SO_FAR) -> Iterator[SignalStop]:
    """Turn the first SIGINT or SIGTERM of a run into a stop request.

    Before the first launch ends, no run can see the request: a signal then ends the program, as every signal
    after the first does. The context must last until the result is written.

    Args:
        message: what the first signal does, for standard error.
    """
    stop = SignalStop(message)
    with offered_to(stop.take):
        yield stop
