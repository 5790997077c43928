"""Import of pysam, which reads BAM, CRAM and their indexes; it comes with the extra `calls`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from syclade.host.ground.errors import ReadsError
from syclade.host.ground.packages import install_command

__all__ = ["pysam_of", "quiet_finalizers"]


_entering = threading.Lock()
_inside: list[int] = []
"""Threads that are inside `quiet_finalizers`."""

_hooks: tuple[Callable[..., object], Callable[..., object]] = (sys.unraisablehook, sys.excepthook)
"""The hooks outside of it."""


def pysam_of() -> ModuleType:
    """Return the module pysam, with its own messages switched off.

    Raises:
        ReadsError: pysam is not installed, or does not import.
    """
    try:
        import pysam
    except ImportError as error:
        missing = getattr(error, "name", None) == "pysam"
        what = "reading BAM and CRAM needs pysam" if missing else f"pysam does not import: {error}"
        raise ReadsError(what, hint=install_command("calls", reinstall=not missing)) from error
    pysam.set_verbosity(0)
    module: ModuleType = pysam
    return module


@contextmanager
def quiet_finalizers() -> Iterator[None]:
    """Drop the tracebacks that pysam prints where a file that could not be opened cannot be closed either.

    Files are opened in several threads. Hooks are of the whole process, so they drop only what comes from
    threads in here, and stay until the last of these has left.
    """
    global _hooks
    with _entering:
        if not _inside:
            _hooks = (sys.unraisablehook, sys.excepthook)  # pysam calls both for one problem
            sys.unraisablehook, sys.excepthook = _unless_quiet(_hooks[0]), _unless_quiet(_hooks[1])
        _inside.append(threading.get_ident())
    try:
        yield
    finally:
        with _entering:
            _inside.remove(threading.get_ident())
            if not _inside:
                sys.unraisablehook, sys.excepthook = _hooks


def _unless_quiet(hook: Callable[..., object]) -> Callable[..., None]:
    """Return a hook that does nothing in threads that are inside `quiet_finalizers`."""

    def called(*problem: object) -> None:
        if threading.get_ident() not in _inside:
            hook(*problem)

    return called
