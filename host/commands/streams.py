"""Standard streams of the program: a broken stream must not lose a result.

Standard error is optional: output that cannot be written is dropped. Standard output is required: the first
failed write raises an OutputError, and later output is dropped. Characters that the encoding lacks are
escaped.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from syclade.host.ground.errors import OutputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["prepare_streams", "shows"]

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
