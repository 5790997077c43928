"""Files that are whole or not there: written under a passing name beside their place, then moved to it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["PassingFiles", "passing_files"]


class PassingFiles:
    """Files that wait for their places, which keep what they have until `move`.

    Attributes:
        waiting: the passing file of every place, in the order in which they were written.
    """

    def __init__(self) -> None:
        self.waiting: dict[Path, Path] = {}

    def write(self, place: Path, content: str | bytes | Iterable[str], *, sync: bool) -> None:
        """Write a new file beside its place; a text is UTF-8 with LF line ends.

        Args:
            place: where it will go; in a folder that exists.
            content: all of it; a text may come in pieces.
            sync: whether to wait until it is on the disk, so that not even a power cut leaves half of it.

        Raises:
            OSError: it cannot be written.
        """
        passing = place.with_name(f".{place.name}.{secrets.token_hex(6)}.tmp")
        self.waiting[place] = passing
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


@contextmanager
def passing_files() -> Iterator[PassingFiles]:
    """Files that are gone at the end, unless they have moved to their places."""
    files = PassingFiles()
    try:
        yield files
    finally:
        for passing in files.waiting.values():
            passing.unlink(missing_ok=True)
