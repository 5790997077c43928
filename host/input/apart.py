"""Files that a C library opens are read in a process of their own: damaged ones may let it crash, or hang.

libhdf5 2.0.0 does not end, and scipy 1.17.1 (mmread) crashes, on files with a few bytes changed. The process
has bounds of time and of memory, and sends what it read, or the error in words.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from syclade.host.errors import MatrixError, SycladeError

__all__ = ["answer", "read_apart"]

LEAST_SECONDS = 60.0
"""That reading may take, whatever the size of the file."""

BYTES_A_SECOND = 2**20
"""A tenth of what a slow disk and an unzipping reader do."""

MOST_MEMORY = 2**33
"""Address space of the process, where the system heeds it."""


def read_apart(reader: Callable[..., Any], path: Path, *rest: Any, seconds: float | None = None) -> Any:
    """What a function returns that is called in another process.

    Args:
        reader: of a module, taking a path and the rest.
        path: the file or folder.
        rest: further arguments, which can be pickled.
        seconds: how long it may take; None takes what follows from the file's size.

    Raises:
        SycladeError: that the function raised.
        MatrixError: the process crashed, did not end, or needed too much memory.
    """
    if seconds is None:
        size = path.stat().st_size if path.is_file() else 0
        seconds = LEAST_SECONDS + size / BYTES_A_SECOND
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(one for one in sys.path if one))
    process = subprocess.Popen(
        # -P: files of the folder that this process happens to stand in are no modules of the other.
        [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # what Ctrl-C means is this process's business
    )
    try:
        told, noise = process.communicate(pickle.dumps((reader, path, rest)), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise MatrixError(
            f"the library that reads it did not end within {seconds:.0f} s",
            path=str(path),
            hint="is the file whole? Fetch it again, or give it in another format",
        ) from None
    except BaseException:  # Ctrl-C
        process.kill()
        process.communicate()
        raise
    if process.returncode or not told:
        raise MatrixError(
            f"the library that reads it crashed: {_last_line(noise) or f'exit {process.returncode}'}",
            path=str(path),
            hint="is the file whole? Fetch it again, or give it in another format",
        )
    result = pickle.loads(told)
    if isinstance(result, SycladeError):
        raise result
    return result


def _last_line(noise: bytes) -> str:
    lines = noise.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def answer() -> None:
    """The other process: calls what it is sent, and sends what that returned or raised."""
    reader, path, rest = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(ImportError, OSError, ValueError):  # not on Windows; a bound that is lower already
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        result = reader(path, *rest)
    except SycladeError as problem:
        result = problem
    with out:
        pickle.dump(result, out, protocol=pickle.HIGHEST_PROTOCOL)
