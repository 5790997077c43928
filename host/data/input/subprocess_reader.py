"""Reading files in a subprocess: damaged files can crash or hang the C library that opens them.

On files with a few bytes changed, libhdf5 2.0.0 hangs and scipy 1.17.1 (mmread) crashes. The subprocess has
limits of time and memory. It returns the data, or the error as a message.
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

from syclade.host.ground.errors import MatrixError, SycladeError
from syclade.host.ground.files import is_file

__all__ = ["answer", "read_apart"]

LEAST_SECONDS = 60.0
"""Time limit in seconds for an empty file; the limit grows with the size of the file."""

BYTES_A_SECOND = 2**20
"""A tenth of the rate of a slow disk and a decompressing reader."""

MOST_MEMORY = 2**33
"""Limit of the address space of the subprocess in bytes, on systems that enforce it."""


def read_apart(reader: Callable[..., Any], path: Path, *rest: Any, seconds: float | None = None) -> Any:
    """Call a function in a subprocess and return its result.

    Args:
        reader: a function at module level; it takes a path and the further arguments.
        path: the file or folder.
        rest: further arguments, which can be pickled.
        seconds: time limit; None derives it from the size of the file.

    Raises:
        SycladeError: raised by the function.
        MatrixError: the subprocess crashed, exceeded the time limit, or needed too much memory.
    """
    if seconds is None:
        size = path.stat().st_size if is_file(path) else 0
        seconds = LEAST_SECONDS + size / BYTES_A_SECOND
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(one for one in sys.path if one))
    process = subprocess.Popen(
        # -P: files in the current folder must not be imported as modules.
        [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is handled by this process alone
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
    """Run in the subprocess: receive a function, call it, and send back its result or error."""
    reader, path, rest = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output printed by a library must not mix with the result
    with suppress(ImportError, OSError, ValueError):  # Windows has no limits; the limit may already be lower
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        result = reader(path, *rest)
    except SycladeError as problem:
        result = problem
    with out:
        pickle.dump(result, out, protocol=pickle.HIGHEST_PROTOCOL)
