"""The lines of a text file."""

from __future__ import annotations

from syclade.host.common.errors import MatrixError
from syclade.host.input.textfile import as_lf

__all__ = ["lines_of"]


def lines_of(data: bytes, path: str) -> list[str]:
    """Return the lines of a UTF-8 file, without blank lines at its end.

    Raises:
        MatrixError: the file is empty or not text.
    """
    try:
        # Strip only blanks and line ends: tabs at the end of a row separate empty values.
        text = as_lf(data, path, MatrixError).decode("utf-8").rstrip("\n ")
    except UnicodeDecodeError:
        raise MatrixError("the file is not UTF-8 text", path=path, hint="save it as UTF-8") from None
    if not text.strip():
        raise MatrixError("the file is empty", path=path)
    return text.split("\n")
