"""Source of a matrix: a file, a folder, or a stream, which can be read only once."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from syclade.host.common.errors import MatrixError
from syclade.host.common.values import path_of
from syclade.host.input.sniff import HEAD
from syclade.host.input.textfile import GZIP, read_bytes, read_stream

__all__ = ["Source"]

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
        try:
            return self.path is not None and self.path.is_dir()
        except ValueError:  # a path with a null character
            return False

    def head(self) -> bytes:
        """Return the first bytes of the source, decompressed.

        Raises:
            MatrixError: the source cannot be read.
        """
        head = self._head()
        if not head.startswith(GZIP):
            return head
        try:
            return zlib.decompressobj(wbits=31).decompress(head, HEAD)
        except zlib.error:
            return b""

    def _head(self) -> bytes:
        try:
            if self._data is None and self.path is not None and self.path.is_file():
                with self.path.open("rb") as stream:
                    return stream.read(HEAD)
        except (OSError, ValueError):  # reported when the whole source is read
            pass
        return self._bytes()[:HEAD]

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
        if self.path is None or not (self.path.is_file() or self.path.is_dir()):
            missing = self.path is not None and not self.path.exists()
            raise MatrixError(
                "no such file" if missing else "this format cannot be read from a stream",
                path=self.name,
                hint=None if missing else "give the name of the file",
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
