"""pysam, which reads BAM, CRAM and their indexes; it comes with the extra `calls`."""

from __future__ import annotations

from typing import Any

from syclade.host.common.errors import ReadsError
from syclade.host.common.install import install_command

__all__ = ["pysam_of"]


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
