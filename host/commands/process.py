"""Process of the program: SIGINT and SIGTERM end it cleanly, and a broken stream loses no result.

A signal never ends it in the middle of an import. In a run, the first one ends it with the best tree so far,
and the second ends it at once. A partly executed import can cause arbitrary failures later, and its traceback
is of no use. So the exception is delayed until the import is over. A signal is not repeated: another one
within a moment comes from a program that sends it twice, such as GNU timeout.

Standard error is optional: output that cannot be written is dropped. Standard output is required: the first
failed write raises an OutputError, and later output is dropped. Characters that the encoding lacks are
escaped.
"""

from __future__ import annotations

import _thread
import codecs
import errno
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from syclade.host.ground.errors import OutputError
from syclade.host.ground.signals import Stop

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = [
    "REPEAT",
    "SignalStop",
    "end_at_once",
    "handle_interrupts",
    "interrupted",
    "offered_to",
    "prepare_streams",
    "shows",
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


_INPUT, _OUTPUT, _ERROR = range(3)


class _Courtesy(io.FileIO):
    """A file that drops output that cannot be written."""

    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except OSError:
            return memoryview(content).nbytes


class _WatchedOutput(io.FileIO):
    """A file that raises an OutputError for the first failed write, and drops all later output."""

    failed = False

    def write(self, content: ReadableBuffer, /) -> int:
        if self.failed:
            return memoryview(content).nbytes
        try:
            return super().write(content)
        except BrokenPipeError:
            raise  # the reader has closed the pipe
        except OSError as problem:
            self.failed = True
            reason = "it is closed" if problem.errno == errno.EBADF else problem.strerror
            raise OutputError(
                f"cannot write to standard output: {reason}",
                hint="send it to a place that can be written to",
            ) from problem


def prepare_streams() -> None:
    """Replace the standard streams of this process, any of which may be closed; only for programs."""
    _open_closed()
    if sys.platform == "win32":  # consoles on Windows cannot be written to as files
        return
    sys.stdout = _stream(_WatchedOutput(_OUTPUT, "wb", closefd=False), sys.stdout)
    sys.stderr = _stream(_Courtesy(_ERROR, "wb", closefd=False), sys.stderr)


def shows(text: str) -> bool:
    """Return whether `click.echo` can write a text to standard output without escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if codecs.lookup(encoding).name == "ascii":
        return True  # click treats ASCII as a misconfiguration, and writes UTF-8
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _open_closed() -> None:
    """Open the null device for closed streams: a file opened later must not get their descriptors.

    Otherwise libraries would write into that file. Standard output is opened read-only, so that writing to
    it is an error.
    """
    for number in (_INPUT, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            # os.open takes the lowest free descriptor, which is that of the closed stream.
            os.open(os.devnull, os.O_WRONLY if number == _ERROR else os.O_RDONLY)


def _stream(raw: io.FileIO, old: TextIO | None) -> TextIO:
    """Return a text stream on a file, with the settings of the old stream if there was one."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=getattr(old, "line_buffering", True),
        write_through=getattr(old, "write_through", False),
    )
