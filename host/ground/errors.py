"""Errors for users: each says what is wrong, where, and what to do about it.

All of them survive pickling, so they can cross process boundaries.
"""

from __future__ import annotations

import os

__all__ = [
    "BusyError",
    "CheckpointError",
    "DeviceError",
    "DeviceMemoryError",
    "MatrixError",
    "OptionError",
    "OutputError",
    "RatesError",
    "ReadsError",
    "SourceError",
    "SycladeError",
    "TableError",
    "TreeError",
    "WorkersError",
]


MOST_SIGNS = 2000
"""Maximum length of a message in characters; compiler output can be long, too."""


class SycladeError(Exception):
    """Base of every error that syclade raises on purpose.

    Attributes:
        message: what is wrong, in one sentence.
        hint: what to do about it, or None.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        message = _shortened(message)
        super().__init__(message)
        self.message = message
        self.hint = hint

    def location(self) -> str:
        """Return the place of the error as ``path:line:column``; empty if there is no such place."""
        return ""

    def __str__(self) -> str:
        """Return the text, and how the options that it names are given in Python."""
        text = self.text
        if "--" not in text:
            return text
        from syclade.host.ground.options import in_python

        names = in_python(text)
        return f"{text}\nin Python: {', '.join(names)}" if names else text

    @property
    def text(self) -> str:
        """Message as the commands print it: where, what is wrong, and what to do."""
        where = self.location()
        text = f"{where}: {self.message}" if where else self.message
        return text if self.hint is None else f"{text}\nhint: {self.hint}"


class _FileError(SycladeError):
    """An error at a place in a file."""

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.column = column

    def location(self) -> str:
        """Return ``path:line:column`` as far as known; ``line N`` for a text without a path."""
        if self.path is None:
            return "" if self.line is None else f"line {self.line}"
        parts = (self.path, self.line, self.column)
        return ":".join(str(part) for part in parts if part is not None)


class MatrixError(_FileError):
    """A mutation matrix, or the names of its mutations, cannot be used.

    Attributes:
        path: the file, or None for an array.
        line: line of the file, from 1, or None.
        column: column of the text in that line (characters, from 1), or None.
    """


class TreeError(_FileError):
    """A mutation tree cannot be used.

    Attributes:
        path: the file, or None.
        line: line of the file, from 1, or None.
        column: column of the text in that line (characters, from 1), or None.
    """


class ReadsError(_FileError):
    """Aligned reads, their reference, or a list of regions or sites cannot be used.

    Attributes:
        path: the file.
        line: line of the file, from 1, or None.
        column: column of the text in that line (characters, from 1), or None.
    """


class SourceError(_FileError):
    """Device code in Python cannot be translated to another language.

    Attributes:
        path: the file.
        line: line of the file, from 1, or None.
        column: column of the text in that line (characters, from 1), or None.
    """


class TableError(_FileError):
    """A table of matrices, of shares or of labels of cells cannot be used.

    Attributes:
        path: the file.
        line: line of the file, from 1, or None.
        column: column of the text in that line (characters, from 1), or None.
    """


class CheckpointError(_FileError):
    """A checkpoint cannot be used: it is damaged or belongs to another inference.

    Attributes:
        path: the file.
    """


class OptionError(SycladeError):
    """An option or argument has a value that cannot be used."""


class RatesError(OptionError):
    """An error rate cannot be used."""


class DeviceError(SycladeError):
    """A device does not exist or cannot run."""


class DeviceMemoryError(DeviceError):
    """A device has too little memory for the number of slots."""


class OutputError(SycladeError):
    """A result cannot be written."""


class BusyError(OutputError):
    """Another run writes to the same place now."""


class WorkersError(SycladeError):
    """The workers of an executor, or its scheduler, cannot be reached or cannot do a job."""


def _shortened(message: str) -> str:
    """Cut out the middle of a message that is too long to read: a name may be a whole file."""
    if len(message) <= MOST_SIGNS:
        return message
    half = MOST_SIGNS // 2
    return f"{message[:half]} [...] {message[-half:]}"
