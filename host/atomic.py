"""Files that are whole or not there: written under a passing name beside their place, then moved to it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Content", "PassingFiles", "passing_files"]

Content = str | bytes | Iterable[str] | Callable[[Path], None]
"""Of a file: a text in one or in pieces, bytes, or what writes the new file at a path."""


class PassingFiles:
    """Files that wait for their places, which keep what they have until `move`.

    Attributes:
        waiting: the passing file of every place, in the order in which they were written.
    """

    def __init__(self) -> None:
        self.waiting: dict[Path, Path] = {}

    def write(self, place: Path, content: Content, *, sync: bool) -> None:
        """Write a new file beside its place; a text is UTF-8 with LF line ends.

        Args:
            place: where it will go; in a folder that exists.
            content: all of it; a text may come in pieces, and what writes a file is called with its path.
            sync: whether to wait until it is on the disk, so that not even a power cut leaves half of it.

        Raises:
            OSError: it cannot be written.
        """
        passing = place.with_name(f".{place.name}.{secrets.token_hex(6)}.tmp")
        self.waiting[place] = passing
        if callable(content):
            content(passing)
            if sync:
                _sync(passing)
            return
        form: dict[str, Any] = {} if isinstance(content, bytes) else {"encoding": "utf-8", "newline": "\n"}
        with passing.open("x" if form else "xb", **form) as file:
            file.writelines([content] if isinstance(content, (str, bytes)) else content)
            if sync:
                file.flush()
                os.fsync(file.fileno())

    def move(self, place: Path) -> None:
        """Let a file take its place.

        Raises:
            OSError: it cannot.
        """
        self.waiting[place].replace(place)


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextmanager
def passing_files() -> Iterator[PassingFiles]:
    """Files that are gone at the end, unless they have moved to their places."""
    files = PassingFiles()
    try:
        yield files
    finally:
        for passing in files.waiting.values():
            passing.unlink(missing_ok=True)
