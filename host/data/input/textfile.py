"""Reading of whole text files with any line ends, with clear errors."""

from __future__ import annotations

import codecs
import os
from typing import IO

from syclade.host.ground.errors import MatrixError, TableError, TreeError
from syclade.host.ground.limits import chunks
from syclade.host.ground.values import path_of

__all__ = ["GZIP", "as_lf", "excerpt", "lines_of", "read_bytes", "read_stream", "read_text", "text_of"]


GZIP = b"\x1f\x8b"
"""First bytes of gzip and bgzip files."""

MOST_LINE = 2**23
"""Longest line, 8 MiB: a row of four million cells, or a tree of some hundred thousand nodes."""

_ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""First bytes of ZIP archives, which .xlsx and .ods are, and of .xls."""

FileErrorType = type[MatrixError] | type[TreeError] | type[TableError]


def excerpt(text: str, most: int = 60) -> str:
    """Quote a piece of a file for a message, shortened if it is long.

    Args:
        text: the piece.
        most: number of characters to show; half of them from each end of a longer text.
    """
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-(most // 2) :]}"
    return repr(text)


def as_lf(data: bytes, path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """Return the bytes of a text file without a byte-order mark, with CR and CRLF replaced by LF.

    Args:
        data: the content of the file.
        path: the file, for messages.
        error: the class to raise if the file is not text.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error("the file is in UTF-16", path=path, hint="save it as plain text (UTF-8)")
    if data.startswith(_ARCHIVES):
        hint = "save the table as text, with tabs (.tsv) or commas (.csv) between columns; unpack an archive"
        raise error("the file is a spreadsheet (.xlsx, .xls) or a ZIP archive", path=path, hint=hint)
    data = data.removeprefix(codecs.BOM_UTF8)
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise error(
            "the file is binary, not text", path=path, line=line, hint="save it as plain text (UTF-8)"
        )
    return data


def read_text(path: str | os.PathLike[str], error: FileErrorType) -> str:
    """Return the text of a UTF-8 file without a byte-order mark, with CR and CRLF replaced by LF.

    Raise ``error`` if the file cannot be read, is not text, or is not UTF-8.
    """
    return text_of(read_bytes(path, error), path, error)


def text_of(data: bytes, path: str | os.PathLike[str], error: FileErrorType) -> str:
    """Return the text of a file's content, as `read_text` does."""
    data = as_lf(data, path, error)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise error(
            "the file is not UTF-8 text", path=path, line=line, hint="save it as plain text (UTF-8)"
        ) from None


def read_stream(stream: IO[bytes] | IO[str], name: str, error: FileErrorType) -> bytes:
    """Read the rest of a stream of bytes or text; raise ``error`` if it cannot be read."""
    try:
        return _read_text_bytes(stream, name, error)
    except (OSError, ValueError) as problem:  # closed, not UTF-8 text, or open only for writing
        raise error(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=name) from None


def read_bytes(path: str | os.PathLike[str], error: FileErrorType) -> bytes:
    """Read the content of a file; raise ``error`` if it cannot be read."""
    try:
        with path_of("the file", path, error).open("rb") as stream:
            return _read_text_bytes(stream, path, error)
    except FileNotFoundError:
        home = str(path).startswith("~")
        raise error(
            "no such file", path=path, hint="~ stands for no folder here: write it out" if home else None
        ) from None
    except IsADirectoryError:
        raise error("this is a directory, not a file", path=path) from None
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror or problem}", path=path) from None
    except ValueError as problem:  # a path with a null character
        raise error(f"cannot be read: {problem}", path=None) from None


def _read_text_bytes(
    stream: IO[bytes] | IO[str], path: str | os.PathLike[str], error: FileErrorType
) -> bytes:
    """Read a stream to its end, or to the first null byte, which shows that it is not text.

    Raise ``error`` for a line longer than MOST_LINE. Gzip data are read to their end without these checks.

    Raises:
        OSError: the stream cannot be read, or is longer than MOST_BYTES.
        ValueError: see `chunks`.
    """
    data = bytearray()
    begins = 0  # offset of the last line
    for piece in chunks(stream):
        before = len(data)
        data += piece
        if data.startswith(GZIP):
            continue
        if b"\0" in piece:
            break  # not text: the caller reports it without the rest
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


def lines_of(data: bytes, path: str) -> list[str]:
    """Return the lines of a UTF-8 file, without blank lines at its end.

    Raises:
        MatrixError: the file is empty or not text.
    """
    # Strip only blanks and line ends: tabs at the end of a row separate empty values.
    text = text_of(data, path, MatrixError).rstrip("\n ")
    if not text.strip():
        raise MatrixError("the file is empty", path=path)
    return text.split("\n")
