"""Locks of open files and folders, which the system releases when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["has_locks", "is_at", "lock_waiting", "try_lock"]


def has_locks() -> bool:
    """Return whether this system has such locks; a file system may still lack them."""
    return fcntl is not None


def try_lock(file: int, *, shared: bool = False) -> bool | None:
    """Lock an open file or folder, unless someone else holds a lock on it.

    Args:
        file: its descriptor.
        shared: whether others may hold shared locks at the same time.

    Returns:
        True if it is locked now, False if someone else holds it, None if there are no locks here.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return None
    return True


def lock_waiting(file: int) -> None:
    """Lock an open file or folder as soon as nobody else holds it; do nothing if there are no locks here."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)


def is_at(file: int, path: Path) -> bool:
    """Return whether a path is still that of an open file or folder."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
