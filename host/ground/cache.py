"""User's cache folder: compiled kernels and what is known about devices. Losing it costs only time.

Its kernels run in this process. So nothing is read that another user may have written: files, and the folders
that they are in, belong to this user or to root, and no one else may write to them.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import tempfile
from functools import cache
from pathlib import Path

from syclade.host.ground.atomic import temporary_files

__all__ = [
    "cache_folder",
    "cache_problem",
    "forget_cached",
    "how_often",
    "is_own",
    "read_cached",
    "read_checked",
    "write_cached",
    "write_checked",
]

logger = logging.getLogger("syclade.cache")


@cache
def cache_folder() -> Path:
    """Return the folder of cached files; `SYCLADE_CACHE` overrides it."""
    override = os.environ.get("SYCLADE_CACHE")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("syclade", appauthor=False))


def cache_problem() -> str | None:
    """Return why the cache cannot be used, and what to do; None if it can."""
    folder = cache_folder()
    other = "set SYCLADE_CACHE to another folder"
    try:
        _make(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
        strange = _strange(folder.stat())
    except OSError as problem:
        return f"cannot be written ({problem.strerror or problem}): {other}"
    return None if strange is None else f"is not used ({strange}): {other}"


def how_often() -> str:
    """Return how often something is computed whose result is cached, to append to a message."""
    problem = cache_problem()
    return "only once" if problem is None else f"in every run, since the cache {cache_folder()} {problem}"


def is_own(path: Path) -> bool:
    """Return whether a file of the cache exists, and only this user, or root, can have written it.

    If others can have written it, a warning says so.
    """
    try:
        return _all_own(path, path.stat())
    except OSError:
        return False


def read_cached(name: str) -> bytes | None:
    """Return a cached file's content; None if there is none, it cannot be read, or is not this user's own."""
    path = cache_folder() / name
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            state = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(state.st_mode) and _all_own(path, state) else None
    except OSError:
        return None


def write_cached(name: str, content: bytes) -> bool:
    """Store a file atomically, for this user only; return False if the cache cannot be used."""
    target = cache_folder() / name
    try:
        _make(target.parent)
        if not all(_check(folder, folder.stat()) for folder in (cache_folder(), target.parent)):
            return False
        with temporary_files(target.parent, [target.name]) as temporary:
            temporary.write(target, content, sync=False)
            temporary.waiting[target].chmod(0o600)
            temporary.move(target)
    except OSError:
        return False
    return True


def _make(folder: Path) -> None:
    """Make a folder, and those above it, for this user only, if it does not exist."""
    for one in (*reversed(folder.parents), folder):
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting, as a pipe in its place would let it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _all_own(path: Path, state: os.stat_result) -> bool:
    """Return whether a file and its folders are this user's own; warn of the first that is not."""
    folders = all(_check(folder, folder.stat()) for folder in (cache_folder(), path.parent))
    return folders and _check(path, state)


def _check(path: Path, state: os.stat_result) -> bool:
    strange = _strange(state)
    if strange is not None:
        _warn(path, strange)
    return strange is None


@cache
def _warn(path: Path, strange: str) -> None:
    """Log once why something in the cache is not used."""
    logger.warning(
        "the cache is not used: %s: %s: remove it, or set SYCLADE_CACHE to a folder of your own",
        path,
        strange,
    )


def _strange(state: os.stat_result) -> str | None:
    """Return why the content of a file or folder may be another user's; None if it is not."""
    if os.name != "posix":  # there are neither owners nor modes
        return None
    if state.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user, {state.st_uid}"
    return "other users can write to it" if state.st_mode & 0o022 else None


def forget_cached(name: str) -> None:
    """Delete a cached file; ignore errors."""
    with contextlib.suppress(OSError):
        (cache_folder() / name).unlink()


def read_checked(name: str) -> bytes | None:
    """Return the content that `write_checked` stored; None if there is none or it is damaged."""
    digest, _, content = (read_cached(name) or b"").partition(b"\n")
    return content if digest == _digest(content) else None


def write_checked(name: str, content: bytes) -> bool:
    """Store a file with a digest, as damaged content would crash a driver. Otherwise like `write_cached`."""
    return write_cached(name, _digest(content) + b"\n" + content)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
