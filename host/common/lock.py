"""Locks between processes: files that exist only while they are locked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syclade.host.common.uninterrupted import uninterrupted

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked"]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock in the context. The system releases it if the process is killed.

    File systems without locks, and Windows, lock nothing.

    Args:
        path: a file for this purpose only; it is removed at the end.

    Raises:
        BlockingIOError: someone else holds the lock.
        OSError: the file cannot be made.
    """
    file = None
    try:
        if fcntl is not None:
            with uninterrupted():
                file = _open_locked(path)
        yield
    finally:
        if file is not None:
            with uninterrupted(), contextlib.suppress(OSError):
                if _is_at(file, path):
                    path.unlink()
            os.close(file)


def _open_locked(path: Path) -> int:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)  # an earlier owner may have removed the empty folder
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise
        except OSError:  # the file system has no locks
            return file
        if _is_at(file, path):
            return file
        os.close(file)  # its owner has just removed it


def _is_at(file: int, path: Path) -> bool:
    """Return whether a path is still that of an open file."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
