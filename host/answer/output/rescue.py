"""Fallback folder for a result that cannot be written to the given path: no run is lost."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from syclade.host.ground.errors import OutputError

__all__ = ["Rescued", "rescued"]


class Rescued(OutputError):
    """A result could not be written as requested, and is in another folder, which the hint names."""


def rescued(error: OutputError, write: Callable[[Path], object]) -> OutputError:
    """Write a result to a new folder in the user's state directory, or else in the temporary directory.

    Args:
        error: the reason why it cannot be written as requested.
        write: function that writes the result to a folder that does not exist yet, or raises an OutputError.

    Returns:
        The error to raise: a `Rescued` that says where the result is; `error` if it cannot be written there
        either.
    """
    for folder in _places():
        try:
            write(folder)
        except OutputError:
            continue
        return Rescued(error.message, hint=f"the result is not lost: it is in {folder}")
    return error


def _places() -> Iterator[Path]:
    import platformdirs

    name = f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{secrets.token_hex(3)}"
    yield Path(platformdirs.user_state_dir("syclade", appauthor=False)) / "results" / name
    try:
        yield Path(tempfile.gettempdir()) / f"syclade-{name}"
    except FileNotFoundError:  # no temporary directory is writable
        return
