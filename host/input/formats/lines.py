"""The lines of a text file."""

from __future__ import annotations

from syclade.host.errors import MatrixError
from syclade.host.input.textfile import as_lf

__all__ = ["lines_of"]


def lines_of(data: bytes, path: str) -> list[str]:
    """The lines of a file of UTF-8, without blank ones at its end.

    Raises:
        MatrixError: it is empty or no text.
    """
    try:
        # Blanks and line ends only: tabs at the end of a row stand between values that are empty.
        text = as_lf(data, path, MatrixError).decode("utf-8").rstrip("\n ")
    except UnicodeDecodeError:
        raise MatrixError("the file is not UTF-8 text", path=path, hint="save it as UTF-8") from None
    if not text.strip():
        raise MatrixError("the file is empty", path=path)
    return text.split("\n")
