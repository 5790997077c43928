"""Ctrl-C handling: exit cleanly at any time, but never in the middle of an import.

A partly executed import can cause arbitrary failures later, and its traceback is of no use. So the
exception is delayed until the import is over. A second Ctrl-C is not delayed.
"""

from __future__ import annotations

import _thread
import signal
import time
from types import FrameType

__all__ = ["end_at_once", "handle_interrupts", "interrupted"]

RETRY = 0.02  # seconds between two checks whether the import is over

_IMPORT = "<frozen importlib._bootstrap>"
_seen = False
_looking = False


def handle_interrupts() -> None:
    """Replace Python's SIGINT handler, unless this process ignores SIGINT (a shell's background job).

    Call this only from a program, in its main thread.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def end_at_once() -> None:
    """Restore the default SIGINT action: from now on Ctrl-C just ends the process."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted() -> bool:
    """Return whether Ctrl-C was pressed, even if its exception was replaced or lost."""
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
    """Return whether a frame or one of its callers is an import."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
