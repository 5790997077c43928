"""The user's cache folder: compiled kernels and what is known of devices. Losing it costs only time."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["cache_folder", "read_cached", "write_cached"]


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
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            if temporary:
                Path(temporary).unlink()
        return False
    return True
