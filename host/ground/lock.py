"""Locks between processes: files that exist only while they are locked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syclade.host.ground.atomic import has_locks, is_at, try_lock
from syclade.host.ground.errors import SycladeError
from syclade.host.ground.files import cannot
from syclade.host.ground.signals import uninterrupted

__all__ = ["is_locked", "locked"]


@contextmanager
def locked(path: Path, busy: SycladeError) -> Iterator[None]:
    """Hold a lock in the context. The system releases it if the process is killed.

    File systems without locks, and Windows, lock nothing.

    Args:
        path: a file for this purpose only; it is removed at the end.
        busy: raised if someone else holds the lock.

    Raises:
        OutputError: the file cannot be made.
    """
    file = None
    try:
        if has_locks():
            with uninterrupted():
                file = _open_locked(path, busy)
        yield
    finally:
        if file is not None:
            with uninterrupted(), contextlib.suppress(OSError):
                if is_at(file, path):
                    path.unlink()
            os.close(file)


def is_locked(path: Path) -> bool:
    """Return whether someone holds the lock of a path now."""
    try:
        file = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):  # there is none, or a name with a null character
        return False
    try:
        return try_lock(file, shared=True) is False
    finally:
        os.close(file)


def _open_locked(path: Path, busy: SycladeError) -> int:
    while True:
        try:
            # An earlier owner may have removed the empty folder.
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as problem:
            raise cannot(f"cannot write to {path.parent}", problem) from problem
        found = try_lock(file)
        if found is False:
            os.close(file)
            raise busy
        if found is None or is_at(file, path):
            return file
        os.close(file)  # its owner has just removed it
