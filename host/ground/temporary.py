"""Folders of temporary files beside their targets; each is locked by its writer.

So a folder without a lock was left by a process that was killed, and the next writer of one of its files
removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from syclade.host.ground.flock import has_locks, is_at, lock_waiting, try_lock

__all__ = ["TemporaryFolder", "make_temporary", "remove_stale", "remove_temporary"]

_NAME = re.compile(r"\.syclade-[0-9a-f]{12}\.tmp")


class TemporaryFolder(NamedTuple):
    """A folder of temporary files.

    Attributes:
        path: the folder.
        lock: descriptor that holds its lock; None on systems without locks.
    """

    path: Path
    lock: int | None


def make_temporary(folder: Path) -> TemporaryFolder:
    """Make and lock a folder of temporary files.

    Args:
        folder: the folder of their targets.

    Raises:
        OSError: it cannot be made.
    """
    while True:  # another process may take it for a stale one before it is locked, and remove it
        path = folder / f".syclade-{secrets.token_hex(6)}.tmp"
        path.mkdir()
        if not has_locks():
            return TemporaryFolder(path, None)
        try:
            file = _open(path)
        except FileNotFoundError:
            continue
        except OSError:
            path.rmdir()
            raise
        lock_waiting(file)
        if is_at(file, path):
            return TemporaryFolder(path, file)
        os.close(file)


def remove_temporary(made: TemporaryFolder) -> None:
    """Remove a folder of temporary files with all files in it, as far as possible, and release its lock."""
    with contextlib.suppress(OSError):  # such as a folder that has been removed
        _remove(made.path)
    if made.lock is not None:
        os.close(made.lock)


def remove_stale(folder: Path, names: Iterable[str]) -> None:
    """Remove what killed processes left of writing these files: folders of temporary files without a lock.

    Folders in which none of the names is, those of running processes, and all on file systems without locks
    stay. An empty one is removed, too.

    Args:
        folder: the folder of the targets.
        names: names of the targets.
    """
    if not has_locks():
        return
    wanted = {*names}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _remove_if_stale(path, wanted)


def _remove_if_stale(path: Path, wanted: set[str]) -> None:
    file = _open(path)
    try:
        found = {one.name for one in path.iterdir()}
        if (not found or found & wanted) and try_lock(file) and is_at(file, path):
            _remove(path)
    finally:
        os.close(file)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove(path: Path) -> None:
    for one in path.iterdir():
        one.unlink()
    path.rmdir()
