"""Reads a whole text file, whatever its line ends, or says why it cannot."""

from __future__ import annotations

import codecs
import os
from typing import IO, Any

from syclade.host.errors import MatrixError, TreeError
from syclade.host.input.bounded import chunks
from syclade.host.values import path_of

__all__ = ["GZIP", "as_lf", "excerpt", "read_bytes", "read_stream", "read_text"]

GZIP = b"\x1f\x8b"
"""How gzipped files begin, and those of bgzip."""

MOST_LINE = 2**23
"""8 MiB: a row of four million cells, or a tree of some hundred thousand nodes."""

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
        return _read_text_bytes(stream, name, error)
    except (OSError, ValueError) as problem:  # closed, of text that is no UTF-8, open for writing only
        raise error(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=name) from None


def read_bytes(path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """All that is in a file; raises ``error`` when it cannot be read."""
    try:
        with path_of("the file", path, error).open("rb") as stream:
            return _read_text_bytes(stream, path, error)
    except FileNotFoundError:
        raise error("no such file", path=path) from None
    except IsADirectoryError:
        raise error("this is a directory, not a file", path=path) from None
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror or problem}", path=path) from None
    except ValueError as problem:  # a path with a null character
        raise error(f"cannot be read: {problem}", path=None) from None


def _read_text_bytes(stream: IO[Any], path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """What a stream has, up to its end, the bounds of a text, or what shows that it is none; all of gzip's.

    Raises:
        OSError: it cannot be read, or has no end within the bound.
        ValueError: see `chunks`.
    """
    data = bytearray()
    begins = 0  # where the last line begins
    for piece in chunks(stream):
        before = len(data)
        data += piece
        if data.startswith(GZIP):
            continue
        if b"\0" in piece:
            break  # no text, which the caller explains: the rest says nothing more
        ends = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
        if ends >= 0:
            begins = before + ends + 1
        if len(data) - begins > MOST_LINE:
            raise error(
                f"the line has more than {MOST_LINE // 2**20} MiB",
                path=path,
                line=data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1,
                hint="is this the file that you mean, and does it have line ends?",
            )
    return bytes(data)
