"""Bounded reading: files that do not end, such as /dev/zero, are refused at a size limit."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["MOST_BYTES", "chunks", "read_bounded"]

MOST_BYTES = 2**28
"""Size limit, 256 MiB: a matrix of 10,000 cells and 10,000 mutations has 200 MB."""

_CHUNK = 2**20


def chunks(stream: IO[Any], most: int | None = None) -> Iterator[bytes]:
    """Yield the content of a stream in pieces.

    Args:
        stream: stream of bytes or text, read to its end; text is encoded as UTF-8.
        most: maximum number of bytes; None takes MOST_BYTES.

    Raises:
        OSError: the stream has more than `most` bytes (EFBIG), or cannot be read.
        ValueError: the stream is closed, or its text is invalid.
    """
    most = MOST_BYTES if most is None else most
    size = 0
    while piece := stream.read(_CHUNK):
        data = piece.encode() if isinstance(piece, str) else bytes(piece)
        size += len(data)
        if size > most:
            raise OSError(errno.EFBIG, f"it has more than {most / 2**20:.0f} MiB")
        yield data


def read_bounded(path: Path, most: int, begins: tuple[bytes, ...] = ()) -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        most: maximum number of bytes.
        begins: allowed first bytes; only the first piece of any other file is read. Empty for no check.

    Raises:
        OSError: the file is longer, or cannot be read.
    """
    with path.open("rb") as stream:
        content = bytearray()
        for piece in chunks(stream, most):
            content += piece
            if begins and not content.startswith(begins):
                break
    return bytes(content)
