"""The program's standard streams, made such that what is wrong with them costs no result.

Standard error is a courtesy: what cannot be written there is dropped. Standard output is what was asked for:
what cannot be written there is an error in words, once. A character that its encoding lacks is escaped.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import Any, TextIO

from syclade.host.errors import OutputError

__all__ = ["prepare_streams", "shows"]

_INPUT, _OUTPUT, _ERROR = range(3)


class _Courtesy(io.FileIO):
    """Drops what cannot be written."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError:
            return len(content)


class _Asked(io.FileIO):
    """Raises an OutputError for what cannot be written, and drops what comes after it."""

    failed = False

    def write(self, content: Any, /) -> int:
        if self.failed:
            return len(content)
        try:
            return super().write(content)
        except BrokenPipeError:
            raise  # whoever read has seen enough
        except OSError as problem:
            self.failed = True
            reason = "it is closed" if problem.errno == errno.EBADF else problem.strerror
            raise OutputError(
                f"cannot write to standard output: {reason}",
                hint="send it to a place that can be written to",
            ) from problem


def prepare_streams() -> None:
    """Replace the standard streams of this process, of which any may be closed; for a program only."""
    _open_closed()
    if sys.platform == "win32":  # consoles there are not written to as files
        return
    sys.stdout = _stream(_Asked(_OUTPUT, "wb", closefd=False), sys.stdout)
    sys.stderr = _stream(_Courtesy(_ERROR, "wb", closefd=False), sys.stderr)


def shows(text: str) -> bool:
    """Whether `click.echo` can show a text as it is on standard output."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if codecs.lookup(encoding).name == "ascii":
        return True  # click takes it for a mistake, and writes UTF-8
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _open_closed() -> None:
    """Let no file that is opened later take the place of a closed stream: libraries would write into it.

    Standard output is opened so that writing to it is an error.
    """
    for number in (_INPUT, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == _ERROR else os.O_RDONLY)  # the lowest that is free


def _stream(raw: io.FileIO, old: TextIO | None) -> TextIO:
    """A text stream on a file, like the old one where there was one."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=getattr(old, "line_buffering", True),
        write_through=getattr(old, "write_through", False),
    )
