"""Ctrl-C as a clean end, from the first moment to the last: never in the middle of an import.

An import that is interrupted half-way may fail in any way later, and prints a traceback from wherever it was.
So the exception waits until the import is over; a second Ctrl-C does not.
"""

from __future__ import annotations

import _thread
import signal
import time
from types import FrameType

__all__ = ["end_at_once", "handle_interrupts", "interrupted"]

RETRY = 0.02  # seconds between two looks whether the import is over

_IMPORT = "<frozen importlib._bootstrap>"
_seen = False
_looking = False


def handle_interrupts() -> None:
    """Take SIGINT over from Python, unless this process ignores it (a shell's background job).

    For a program's own process, from its main thread.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def end_at_once() -> None:
    """From now on a Ctrl-C just ends the process: there is nothing left to do, and nobody to catch it."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted() -> bool:
    """Whether a Ctrl-C came, whatever has become of its exception."""
    return _seen


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _seen, _looking
    again = _seen and not _looking
    _seen, _looking = True, False
    if again or not _importing(frame):
        raise KeyboardInterrupt
    _thread.start_new_thread(_look_again, ())


def _look_again() -> None:
    global _looking
    time.sleep(RETRY)
    _looking = True
    _thread.interrupt_main()


def _importing(frame: FrameType | None) -> bool:
    """Whether an import is among the calls that lead to a frame."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
