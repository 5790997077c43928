"""The user's cache folder: compiled kernels and what is known of devices. Losing it costs only time."""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

from syclade.host.atomic import passing_files

__all__ = ["cache_folder", "forget_cached", "read_cached", "read_checked", "write_cached", "write_checked"]


@cache
def cache_folder() -> Path:
    """Where cached files live; `SYCLADE_CACHE` may name another place."""
    override = os.environ.get("SYCLADE_CACHE")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("syclade", appauthor=False))


def read_cached(name: str) -> bytes | None:
    """A cached file's content; None if there is none or it cannot be read."""
    try:
        return (cache_folder() / name).read_bytes()
    except OSError:
        return None


def write_cached(name: str, content: bytes) -> bool:
    """Store a file so that no reader ever sees half of it; False if the cache cannot be written."""
    target = cache_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with passing_files() as passing:
            passing.write(target, content, sync=False)
            passing.move(target)
    except OSError:
        return False
    return True


def forget_cached(name: str) -> None:
    """Delete a cached file, if it is there and can be."""
    with contextlib.suppress(OSError):
        (cache_folder() / name).unlink()


def read_checked(name: str) -> bytes | None:
    """What `write_checked` stored; None if there is none, or it is damaged."""
    digest, _, content = (read_cached(name) or b"").partition(b"\n")
    return content if digest == _digest(content) else None


def write_checked(name: str, content: bytes) -> bool:
    """Store what would crash a driver if it were damaged: with a digest. As `write_cached` otherwise."""
    return write_cached(name, _digest(content) + b"\n" + content)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
