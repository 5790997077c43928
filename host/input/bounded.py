"""Files are read to a bound: one that does not end, such as /dev/zero, is refused, not waited for."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["MOST_BYTES", "chunks", "read_bounded"]

MOST_BYTES = 2**28
"""256 MiB: a matrix of 10,000 cells and 10,000 mutations has 200 MB."""

_CHUNK = 2**20


def chunks(stream: IO[Any], most: int | None = None) -> Iterator[bytes]:
    """What a stream has, piece by piece.

    Args:
        stream: to read to its end, of bytes or of text, which is given as UTF-8.
        most: how long it may be; None takes MOST_BYTES.

    Raises:
        OSError: it has more than `most` bytes (EFBIG), or cannot be read.
        ValueError: it is closed, or its text is none.
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
    """A file's bytes.

    Args:
        path: the file.
        most: how long it may be.
        begins: how it may begin; of any other file only the beginning is read. Empty: as it likes.

    Raises:
        OSError: it is longer, or cannot be read.
    """
    with path.open("rb") as stream:
        content = bytearray()
        for piece in chunks(stream, most):
            content += piece
            if begins and not content.startswith(begins):
                break
    return bytes(content)
