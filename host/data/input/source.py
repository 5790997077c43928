"""Source of a matrix: a file, a folder, or a stream, which can be read only once.

Files that a C library opens are read in a subprocess with limits of time and memory, because damaged files
can crash or hang the library: on files with a few bytes changed, libhdf5 2.0.0 hangs and scipy 1.17.1
(mmread) crashes. The subprocess returns the data, or the error as a message.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar, cast

from syclade.host.data.input.textfile import GZIP, MOST_LINE, read_bytes, read_stream
from syclade.host.ground.errors import MatrixError, SycladeError
from syclade.host.ground.files import is_file, is_folder, problem_of
from syclade.host.ground.values import path_of

__all__ = ["Source", "read_in_subprocess", "serve_reader"]


File = str | os.PathLike[str] | IO[bytes] | IO[str]
"""Path of a file or folder, or a stream."""

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

    file: File
    name: str
    path: Path | None
    _data: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, file: File) -> Source:
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
                return read_stream(cast(IO[bytes], text), self.name, MatrixError), digest
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


Read = TypeVar("Read")

LEAST_SECONDS = 60.0
"""Time limit in seconds for an empty file; the limit grows with the size of the file."""

BYTES_A_SECOND = 2**20
"""A tenth of the rate of a slow disk and a decompressing reader."""

MOST_MEMORY = 2**33
"""Limit of the address space of the subprocess in bytes, on systems that enforce it."""


def read_in_subprocess(
    reader: Callable[..., Read], path: Path, *rest: object, seconds: float | None = None
) -> Read:
    """Call a function in a subprocess and return its result.

    Args:
        reader: a function at module level; it takes a path and the further arguments.
        path: the file or folder.
        rest: further arguments, which can be pickled.
        seconds: time limit; None derives it from the size of the file.

    Raises:
        SycladeError: raised by the function.
        MatrixError: the subprocess crashed, exceeded the time limit, or needed too much memory.
    """
    if seconds is None:
        size = path.stat().st_size if is_file(path) else 0
        seconds = LEAST_SECONDS + size / BYTES_A_SECOND
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(one for one in sys.path if one))
    process = subprocess.Popen(
        # -P: files in the current folder must not be imported as modules.
        [sys.executable, "-P", "-c", f"from {__name__} import serve_reader; serve_reader()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is handled by this process alone
    )
    try:
        output, noise = process.communicate(pickle.dumps((reader, path, rest)), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise MatrixError(
            f"the library that reads it did not end within {seconds:.0f} s",
            path=str(path),
            hint="is the file whole? Fetch it again, or give it in another format",
        ) from None
    except BaseException:  # Ctrl-C
        process.kill()
        process.communicate()
        raise
    if process.returncode or not output:
        raise MatrixError(
            f"the library that reads it crashed: {_last_line(noise) or f'exit {process.returncode}'}",
            path=str(path),
            hint="is the file whole? Fetch it again, or give it in another format",
        )
    result: Read | SycladeError = pickle.loads(output)
    if isinstance(result, SycladeError):
        raise result
    return result


def _last_line(noise: bytes) -> str:
    lines = noise.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def serve_reader() -> None:
    """Run in the subprocess: receive a function, call it, and send back its result or error."""
    reader, path, rest = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output printed by a library must not mix with the result
    with suppress(ImportError, OSError, ValueError):  # Windows has no limits; the limit may already be lower
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        result = reader(path, *rest)
    except SycladeError as problem:
        result = problem
    with out:
        pickle.dump(result, out, protocol=pickle.HIGHEST_PROTOCOL)
