"""Reads a whole text file, whatever its line ends, or says why it cannot."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import IO, Any

from syclade.host.errors import MatrixError, TreeError

__all__ = ["as_lf", "excerpt", "read_bytes", "read_stream", "read_text"]

FileErrorType = type[MatrixError] | type[TreeError]


def excerpt(text: str, most: int = 60) -> str:
    """A piece of a file in a message: in quotes, and no longer than a message bears.

    Args:
        text: the piece.
        most: characters that are shown; of a longer text the first half of them and the last.
    """
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-(most // 2) :]}"
    return repr(text)


def as_lf(data: bytes, path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """The bytes of a text file, without a byte-order mark, CR and CRLF turned into LF.

    Args:
        data: all that is in the file.
        path: the file, for messages.
        error: the class to raise when the file is no text.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error("the file is in UTF-16", path=path, hint="save it as plain text (UTF-8)")
    data = data.removeprefix(codecs.BOM_UTF8)
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise error(
            "the file is binary, not text", path=path, line=line, hint="save it as plain text (UTF-8)"
        )
    return data


def read_text(path: str | os.PathLike[str], error: FileErrorType) -> str:
    """The text of a UTF-8 file, without a byte-order mark, CR and CRLF turned into LF.

    Raises ``error`` when the file cannot be read, is no text, or has bytes that are not UTF-8.
    """
    data = as_lf(read_bytes(path, error), path, error)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise error(
            "the file is not UTF-8 text", path=path, line=line, hint="save it as plain text (UTF-8)"
        ) from None


def read_stream(stream: IO[Any], name: str, error: FileErrorType) -> bytes:
    """All that is left in a stream, of bytes or of text; raises ``error`` when it cannot be read."""
    try:
        data = stream.read()
        return data.encode() if isinstance(data, str) else bytes(data)
    except (OSError, ValueError) as problem:  # closed, of text that is no UTF-8, open for writing only
        raise error(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=name) from None


def read_bytes(path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """All that is in a file; raises ``error`` when it cannot be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise error("no such file", path=path) from None
    except IsADirectoryError:
        raise error("this is a directory, not a file", path=path) from None
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror or problem}", path=path) from None
    except ValueError as problem:  # a path with a null character
        raise error(f"cannot be read: {problem}", path=None) from None
