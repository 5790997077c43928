"""One door for matrix files of all formats."""

from __future__ import annotations

import hashlib
import os
from typing import IO, Any

from syclade.host.errors import MatrixError, OptionError
from syclade.host.input.formats import FORMATS, Asked
from syclade.host.input.matrix import Matrix
from syclade.host.input.names import default_names
from syclade.host.input.textfile import read_bytes, read_stream

__all__ = ["read_format"]


def read_format(
    file: str | os.PathLike[str] | IO[Any],
    format: str,
    *,
    two: str | None = None,
    rows: str | None = None,
) -> Matrix:
    """Reads a matrix file of a format in `FORMATS`, with the names that it has.

    Args:
        file: a path, or a stream that is open for reading.
        format: its name in the table.
        two: what 2 means, homozygous or missing; needed where it occurs and the format does not say.
        rows: what rows are, cells or mutations; needed where the format does not say.

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
    if isinstance(file, (str, os.PathLike)):
        source = os.fspath(file)
        data = read_bytes(file, MatrixError)
    else:
        source = str(getattr(file, "name", "<stream>"))
        data = read_stream(file, source, MatrixError)
    grid = FORMATS[format].read(data, source, Asked(two, rows))
    mutations = grid.mutations or default_names(grid.values.shape[0])
    return Matrix(grid.values, mutations, source, hashlib.sha256(data).hexdigest(), grid.cells)
