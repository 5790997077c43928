"""One door for matrix files of all formats."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import IO, Any, cast

from syclade.host.errors import MatrixError, OptionError
from syclade.host.input.formats import FORMATS, Asked
from syclade.host.input.matrix import Matrix
from syclade.host.input.names import default_names
from syclade.host.input.textfile import read_bytes, read_stream

__all__ = ["read_format"]

_GZIP = b"\x1f\x8b"


def read_format(
    file: str | os.PathLike[str] | IO[Any],
    format: str,
    *,
    two: str | None = None,
    rows: str | None = None,
    min_depth: int | None = None,
) -> Matrix:
    """Reads a matrix file of a format in `FORMATS`, with the names that it has.

    Args:
        file: a path, of a file that may be gzipped, or a stream that is open for reading.
        format: its name in the table.
        two: what 2 means, homozygous or missing; needed where it occurs and the format does not say.
        rows: what rows are, cells or mutations; needed where the format does not say.
        min_depth: how many reads a call needs, else it is missing; for formats that have reads.

    Raises:
        OptionError: no such format, or meaning.
        MatrixError: what is wrong in the file, or what must be said of it, with the option.
    """
    for option, value, known in (
        ("--format", format, tuple(FORMATS)),
        ("--two", two, (None, "homozygous", "missing")),
        ("--rows", rows, (None, "cells", "mutations")),
    ):
        if value not in known:
            raise OptionError(f"{option} is {value!r}", hint=f"one of {', '.join(filter(None, known))}")
    if min_depth is not None and (min_depth < 0 or not FORMATS[format].reads):
        raise OptionError(
            f"--min-depth {min_depth} does not go with --format {format}",
            hint="from 0 on, and for formats with numbers of reads: vcf, compass",
        )
    if isinstance(file, (str, os.PathLike)):
        source = os.fspath(file)
        data = read_bytes(file, MatrixError)
        digest = hashlib.sha256(data)
        if data.startswith(_GZIP) and Path(source).is_file():  # a pipe cannot be read again
            data, digest = _unzipped(source)
    else:
        source = str(getattr(file, "name", "<stream>"))
        data = read_stream(file, source, MatrixError)
        digest = hashlib.sha256(data)
    grid = FORMATS[format].read(data, source, Asked(two, rows, min_depth))
    mutations = grid.mutations or default_names(grid.values.shape[0])
    return Matrix(grid.values, mutations, source, digest.hexdigest(), grid.cells)


def _unzipped(path: str) -> tuple[bytes, Any]:
    """What is in a gzipped file (or BGZF), within the bounds of a text, and the digest of the file itself."""
    try:
        with Path(path).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256")
            stream.seek(0)
            with gzip.GzipFile(fileobj=stream) as text:
                return read_stream(cast(IO[Any], text), path, MatrixError), digest
    except (OSError, EOFError, zlib.error) as problem:
        raise MatrixError(f"cannot be unzipped: {problem}", path=path) from None
