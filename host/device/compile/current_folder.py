"""Compiling needs a current folder: numba (0.59 and later) names files relative to it."""

from __future__ import annotations

from pathlib import Path

from syclade.host.ground.errors import DeviceError

__all__ = ["require_current_folder"]


def require_current_folder() -> None:
    """Check that the current folder of this process still exists.

    Raises:
        DeviceError: the folder was deleted.
    """
    try:
        Path.cwd()
    except OSError:
        raise DeviceError(
            "the current folder does not exist any more, and the compiler needs one",
            hint="go to a folder that exists (cd), and try again",
        ) from None
