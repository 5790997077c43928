"""Input files: their text, with clear errors; a file, folder or stream as the source of a matrix.

A text may have any line ends. A stream can be read only once. Files that a C library opens are read in a
subprocess with limits of time and memory, because damaged files can crash or hang the library: on files with
a few bytes changed, libhdf5 2.0.0 hangs and scipy 1.17.1 (mmread) crashes. The subprocess returns the data,
or the error as a message.
"""

from __future__ import annotations

import codecs
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

from syclade.host.ground.errors import MatrixError, SycladeError, TableError, TreeError
from syclade.host.ground.files import is_file, is_folder, problem_of
from syclade.host.ground.limits import chunks
from syclade.host.ground.values import path_of

__all__ = [
    "GZIP",
    "Source",
    "as_lf",
    "lines_of",
    "read_in_subprocess",
    "read_text",
    "serve_reader",
]


GZIP = b"\x1f\x8b"
"""First bytes of gzip and bgzip files."""

MOST_LINE = 2**23
"""Longest line, 8 MiB: a row of four million cells, or a tree of some hundred thousand nodes."""

_ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""First bytes of ZIP archives, which .xlsx and .ods are, and of .xls."""

File = str | os.PathLike[str] | IO[bytes] | IO[str]
"""Path of a file or folder, or a stream."""

_PIECE = 2**16
"""Bytes of the beginning that are read at once."""

_TWO_LINES = re.compile(rb"\s*+[^\r\n]++[\r\n]\s*+[^\r\n]++[\r\n]")

MOST_WHOLE = 2**33
"""Maximum size in bytes of a file that a library opens; it may have layers that are not read."""

FileErrorType = type[MatrixError] | type[TreeError] | type[TableError]


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
    return _text_of(_read_bytes(path, error), path, error)


def _text_of(data: bytes, path: str | os.PathLike[str], error: FileErrorType) -> str:
    """Return the text of a file's content, as `read_text` does."""
    data = as_lf(data, path, error)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise error(
            "the file is not UTF-8 text", path=path, line=line, hint="save it as plain text (UTF-8)"
        ) from None


def _read_stream(stream: IO[bytes] | IO[str], name: str, error: FileErrorType) -> bytes:
    """Read the rest of a stream of bytes or text; raise ``error`` if it cannot be read."""
    try:
        return _read_text_bytes(stream, name, error)
    except (OSError, ValueError) as problem:  # closed, not UTF-8 text, or open only for writing
        raise error(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=name) from None


def _read_bytes(path: str | os.PathLike[str], error: FileErrorType) -> bytes:
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
    text = _text_of(data, path, MatrixError).rstrip("\n ")
    if not text.strip():
        raise MatrixError("the file is empty", path=path)
    return text.split("\n")


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
                return _read_stream(cast(IO[bytes], text), self.name, MatrixError), digest
        except (OSError, EOFError, zlib.error) as problem:
            raise MatrixError(f"cannot be unzipped: {problem}", path=self.name) from None

    def _bytes(self) -> bytes:
        if self._data is None:
            if isinstance(self.file, (str, os.PathLike)):
                self._data = _read_bytes(self.file, MatrixError)
            else:
                self._data = _read_stream(self.file, self.name, MatrixError)
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
