"""Atomic writes: write to a temporary file in a folder beside the target, then rename.

Each folder of temporary files is locked by its writer. So a later run can tell, and delete, those that
killed processes left.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from syclade.host.ground.signals import uninterrupted

__all__ = [
    "Content",
    "TemporaryFiles",
    "TemporaryFolder",
    "has_locks",
    "is_at",
    "lock_waiting",
    "make_temporary",
    "remove_stale",
    "remove_temporary",
    "temporary_files",
    "try_lock",
]


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


Content = str | bytes | Iterable[str] | Callable[[Path], None]
"""Content of a file: a text, whole or in pieces; bytes; or a function that writes the file at a path."""


class TemporaryFiles:
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
        temporary = self._made.path / place.name
        self.waiting[place] = temporary
        if callable(content):
            content(temporary)
            if sync:
                _sync(temporary)
            return
        pieces = [content] if isinstance(content, (str, bytes)) else content
        with temporary.open("xb") as file:
            file.writelines(one if isinstance(one, bytes) else one.encode() for one in pieces)
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
        temporary = self.waiting[place]
        if replace:
            temporary.replace(place)
        else:
            _move_to_new(temporary, place)

    def close(self) -> None:
        """Delete the temporary files that have not been moved, and their folder."""
        made, self._made = self._made, None
        if made is not None:
            remove_temporary(made)


def _move_to_new(temporary: Path, place: Path) -> None:
    """Rename a file, unless the new name exists; of two processes, only one can succeed."""
    try:
        place.hardlink_to(temporary)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from None
        temporary.rename(place)
    else:
        temporary.unlink()


def _sync(path: Path) -> None:
    """Wait until a file is on disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextmanager
def temporary_files(folder: Path, names: Iterable[str]) -> Iterator[TemporaryFiles]:
    """Yield `TemporaryFiles`; at the end, delete the temporary files that have not been moved.

    Those that killed processes left of these files are deleted, too.

    Args:
        folder: the folder of the targets; it exists.
        names: names of the targets.
    """
    remove_stale(folder, names)
    files = TemporaryFiles(folder)
    try:
        yield files
    finally:
        with uninterrupted():
            files.close()


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
