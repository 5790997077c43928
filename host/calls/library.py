"""pysam, which reads BAM, CRAM and their indexes; it comes with the extra `calls`."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

from syclade.host.common.errors import ReadsError
from syclade.host.common.install import install_command

__all__ = ["pysam_of", "quiet_finalizers"]


def pysam_of() -> Any:
    """Return the module pysam, with its own messages switched off.

    Raises:
        ReadsError: pysam is not installed, or does not import.
    """
    try:
        import pysam
    except ImportError as error:
        missing = getattr(error, "name", None) == "pysam"
        what = "reading BAM and CRAM needs pysam" if missing else f"pysam does not import: {error}"
        raise ReadsError(what, hint=install_command("calls", anew=not missing)) from error
    pysam.set_verbosity(0)
    return pysam


@contextmanager
def quiet_finalizers() -> Iterator[None]:
    """Drop the tracebacks that pysam prints where a file that could not be opened cannot be closed either."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda _problem: None
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        sys.unraisablehook = before
