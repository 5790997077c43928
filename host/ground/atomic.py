"""Atomic writes: write to a temporary file in a folder beside the target, then rename."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from syclade.host.ground.temporary import TemporaryFolder, make_temporary, remove_stale, remove_temporary
from syclade.host.ground.uninterrupted import uninterrupted

__all__ = ["Content", "PassingFiles", "passing_files"]

Content = str | bytes | Iterable[str] | Callable[[Path], None]
"""Content of a file: a text, whole or in pieces; bytes; or a function that writes the file at a path."""


class PassingFiles:
    """Temporary files of targets in one folder. The targets stay unchanged until `move`.

    Attributes:
        waiting: the temporary file of every target, in the order of writing.
    """

    def __init__(self, folder: Path) -> None:
        self.waiting: dict[Path, Path] = {}
        self._folder = folder
        self._made: TemporaryFolder | None = None

    def write(self, place: Path, content: Content, *, sync: bool) -> None:
        """Write a temporary file; a text is UTF-8 with LF line ends.

        Args:
            place: the target.
            content: the whole content; a text may come in pieces, and a function is called with the path of
                the temporary file.
            sync: whether to wait until the file is on disk, so that even a power failure cannot leave half of
                it.

        Raises:
            OSError: the file cannot be written.
        """
        if self._made is None:
            with uninterrupted():
                self._made = make_temporary(self._folder)
        passing = self._made.path / place.name
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

    def move(self, place: Path, *, replace: bool = True) -> None:
        """Rename a temporary file to its target.

        Args:
            place: the target.
            replace: whether an existing target is replaced.

        Raises:
            FileExistsError: the target exists and is not to be replaced.
            OSError: the file cannot be renamed.
        """
        passing = self.waiting[place]
        if replace:
            passing.replace(place)
        else:
            _move_to_new(passing, place)

    def close(self) -> None:
        """Delete the temporary files that have not been moved, and their folder."""
        made, self._made = self._made, None
        if made is not None:
            remove_temporary(made)


def _move_to_new(passing: Path, place: Path) -> None:
    """Rename a file, unless the new name exists; of two processes, only one can succeed."""
    try:
        place.hardlink_to(passing)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from None
        passing.rename(place)
    else:
        passing.unlink()


def _sync(path: Path) -> None:
    """Wait until a file is on disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextmanager
def passing_files(folder: Path, names: Iterable[str]) -> Iterator[PassingFiles]:
    """Yield `PassingFiles`; at the end, delete the temporary files that have not been moved.

    Those that killed processes left of these files are deleted, too.

    Args:
        folder: the folder of the targets; it exists.
        names: names of the targets.
    """
    remove_stale(folder, names)
    files = PassingFiles(folder)
    try:
        yield files
    finally:
        with uninterrupted():
            files.close()
