"""User's cache folder: compiled kernels and what is known about devices. Losing it costs only time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

from syclade.host.common.atomic import passing_files

__all__ = [
    "cache_folder",
    "cache_problem",
    "forget_cached",
    "how_often",
    "read_cached",
    "read_checked",
    "write_cached",
    "write_checked",
]


@cache
def cache_folder() -> Path:
    """Return the folder of cached files; `SYCLADE_CACHE` overrides it."""
    override = os.environ.get("SYCLADE_CACHE")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("syclade", appauthor=False))


def cache_problem() -> str | None:
    """Return why the cache cannot be written; None if it can."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_folder()):
            return None
    except OSError as problem:
        return problem.strerror or str(problem)


def how_often() -> str:
    """Return how often something is computed whose result is cached, to append to a message."""
    problem = cache_problem()
    if problem is None:
        return "only once"
    return (
        f"in every run, since the cache {cache_folder()} cannot be written ({problem}): "
        "set SYCLADE_CACHE to another folder"
    )


def read_cached(name: str) -> bytes | None:
    """Return a cached file's content; None if there is no such file or it cannot be read."""
    try:
        return (cache_folder() / name).read_bytes()
    except OSError:
        return None


def write_cached(name: str, content: bytes) -> bool:
    """Store a file atomically; return False if the cache cannot be written."""
    target = cache_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with passing_files(target.parent, [target.name]) as passing:
            passing.write(target, content, sync=False)
            passing.move(target)
    except OSError:
        return False
    return True


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
