"""Source of a matrix: a file, a folder, or a stream, which can be read only once."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from syclade.host.data.input.textfile import GZIP, MOST_LINE, read_bytes, read_stream
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import is_file, is_folder, problem_of
from syclade.host.ground.values import path_of

__all__ = ["Source"]

_PIECE = 2**16
"""Bytes of the beginning that are read at once."""

_TWO_LINES = re.compile(rb"\s*+[^\r\n]++[\r\n]\s*+[^\r\n]++[\r\n]")

MOST_WHOLE = 2**33
"""Maximum size in bytes of a file that a library opens; it may have layers that are not read."""


@dataclass
class Source:
    """A file, a folder or a stream.

    Attributes:
        file: the file, folder or stream as given.
        name: its name for messages.
        path: its path; None for a stream.
    """

    file: str | os.PathLike[str] | IO[Any]
    name: str
    path: Path | None
    _data: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, file: str | os.PathLike[str] | IO[Any]) -> Source:
        """Make a source from a path or stream.

        Raises:
            MatrixError: the path is empty.
        """
        if isinstance(file, (str, os.PathLike)):
            return cls(file, os.fspath(file), path_of("the file", file, MatrixError))
        return cls(file, str(getattr(file, "name", "<stream>")), None)

    @property
    def is_folder(self) -> bool:
        """Return whether the source is a folder."""
        return self.path is not None and is_folder(self.path)

    def head(self) -> bytes:
        """Return the beginning of the source, decompressed: its first two lines, if it is text.

        Lines that are longer than a text may have are cut off.

        Raises:
            MatrixError: the source cannot be read.
        """
        head = bytearray()
        with suppress(OSError, EOFError, ValueError, zlib.error), self._open() as raw:  # reported by text()
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if packed else raw
            while len(head) <= 2 * MOST_LINE and (piece := stream.read(max(_PIECE, len(head)))):
                head += piece
                if b"\0" in piece or _TWO_LINES.match(head):
                    break
        return bytes(head)

    def _open(self) -> IO[bytes]:
        with suppress(OSError, ValueError):  # reported by _bytes()
            if self._data is None and self.path is not None and self.path.is_file():
                return self.path.open("rb")
        return io.BytesIO(self._bytes())

    def text(self) -> tuple[bytes, str]:
        """Return the content of a text, decompressed, and the SHA-256 of the bytes before decompression.

        Raises:
            MatrixError: the source cannot be read or decompressed, or exceeds the limits of a text.
        """
        data = self._bytes()
        digest = hashlib.sha256(data).hexdigest()
        if not data.startswith(GZIP):
            return data, digest
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as text:
                return read_stream(cast(IO[Any], text), self.name, MatrixError), digest
        except (OSError, EOFError, zlib.error) as problem:
            raise MatrixError(f"cannot be unzipped: {problem}", path=self.name) from None

    def _bytes(self) -> bytes:
        if self._data is None:
            if isinstance(self.file, (str, os.PathLike)):
                self._data = read_bytes(self.file, MatrixError)
            else:
                self._data = read_stream(self.file, self.name, MatrixError)
        return self._data

    def whole(self) -> tuple[Path, str]:
        """Return the path of a file or folder, for a library to open, and the SHA-256 of its content.

        Raises:
            MatrixError: the source is a stream, cannot be read, or is too large.
        """
        missing = None if self.path is None else problem_of(self.path)
        if missing is not None:
            raise MatrixError(missing, path=self.name)
        if self.path is None or not (is_file(self.path) or is_folder(self.path)):
            raise MatrixError(
                "this format cannot be read from a stream", path=self.name, hint="give the name of the file"
            )
        try:
            files = [self.path] if self.path.is_file() else sorted(self.path.iterdir())
            digests = [_digest(one) for one in files if one.is_file()]
        except OSError as problem:
            raise MatrixError(f"cannot be read: {problem.strerror}", path=str(self.path)) from None
        if len(digests) == 1:
            return self.path, digests[0]
        return self.path, hashlib.sha256("".join(digests).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size > MOST_WHOLE:
            raise MatrixError(f"the file has more than {MOST_WHOLE // 2**30} GiB", path=str(path))
        return hashlib.file_digest(stream, "sha256").hexdigest()
