"""Locks between processes: files that exist only while they are locked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syclade.host.common.errors import OutputError
from syclade.host.common.files import cannot
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
        OutputError: someone else holds the lock, or the file cannot be made.
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
        try:
            # An earlier owner may have removed the empty folder.
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as problem:
            raise cannot(f"cannot write to {path.parent}", problem) from problem
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise OutputError(
                f"another run is writing to {path.parent}",
                hint="wait for its end, or choose another directory",
            ) from None
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
