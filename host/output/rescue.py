"""Fallback folder for a result that cannot be written to the given path: no run is lost."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from syclade.host.common.errors import OutputError

__all__ = ["keep"]


def keep(write: Callable[[Path], object]) -> Path | None:
    """Write a result to a new folder in the user's state directory, or else in the temporary directory.

    Args:
        write: function that writes the result to a folder that does not exist yet, or raises an OutputError.

    Returns:
        The folder; None if the result cannot be written to either.
    """
    for folder in _places():
        try:
            write(folder)
        except OutputError:
            continue
        return folder
    return None


def _places() -> Iterator[Path]:
    import platformdirs

    name = f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{secrets.token_hex(3)}"
    yield Path(platformdirs.user_state_dir("syclade", appauthor=False)) / "results" / name
    try:
        yield Path(tempfile.gettempdir()) / f"syclade-{name}"
    except FileNotFoundError:  # no temporary directory is writable
        return
