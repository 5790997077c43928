"""Check that no output is also an input, or another output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from syclade.host.ground.errors import OutputError

__all__ = ["is_file", "is_folder", "problem_of", "refuse_same"]


def refuse_same(outputs: Iterable[Path], others: Mapping[str, Any]) -> None:
    """Check that outputs are none of other files, under any name (links included).

    Args:
        outputs: the files to write, which may not exist yet.
        others: files that a run reads or writes besides, by the user's names for them. A path stands for the
            file, or for all files of the folder. A stream stands for its file. Other values are ignored.

    Raises:
        OutputError: an output is one of the others.
    """
    known = {key: name for name, value in others.items() for key in _keys_of(value)}
    for place in outputs:
        for key in _keys(place):
            if key in known:
                raise OutputError(
                    f"{place} is also {known[key]}, and would be overwritten",
                    hint="choose another place for the results",
                )


def _keys_of(value: Any) -> Iterable[object]:
    """Return the keys of the files that a value stands for."""
    if isinstance(value, (str, os.PathLike)):
        path = Path(value)
        try:
            files = [path, *path.iterdir()] if path.is_dir() else [path]
        except (OSError, ValueError):
            files = [path]
        return {key for file in files for key in _keys(file)}
    try:
        found = os.fstat(value.fileno())
    except (AttributeError, OSError, TypeError, ValueError):
        return ()
    return ((found.st_dev, found.st_ino),)


def _keys(path: Path) -> list[object]:
    """Return keys of which equal files share one: the real path, and the file itself if it exists."""
    if "\0" in str(path):
        return []
    keys: list[object] = [os.path.realpath(path)]
    with contextlib.suppress(OSError):
        found = path.stat()
        keys.append((found.st_dev, found.st_ino))
    return keys


def problem_of(path: Path) -> str | None:
    """Return why a path cannot be opened, such as for want of permission; None if it exists."""
    try:
        path.stat()
    except FileNotFoundError:
        return "no such file"
    except ValueError as problem:  # a null character
        return f"cannot be read: {problem}"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    return None


def is_file(path: Path) -> bool:
    """Return whether a file is there, as far as this process may see; Python's own method may raise."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Return whether a folder is there, as far as this process may see."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
