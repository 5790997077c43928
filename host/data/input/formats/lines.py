"""The lines of a text file."""

from __future__ import annotations

from syclade.host.data.input.textfile import text_of
from syclade.host.ground.errors import MatrixError

__all__ = ["lines_of"]


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
