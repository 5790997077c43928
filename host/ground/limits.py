"""Limits: memory is checked before it is taken, and files are read up to a maximum size.

Linux grants more memory than it has. Without the check, the process is killed without a message, or takes
the machine's other programs down with it. Some files never end, such as /dev/zero.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from syclade.host.ground.errors import OptionError, SycladeError

__all__ = [
    "MOST_BYTES", "ONE_BLAS_THREAD", "available_memory", "chunks", "open_files", "read_bounded",
    "require_memory", "use_one_blas_thread",
]  # fmt: skip


_FREE = re.compile(r"^(?:MemAvailable|SwapFree): +(\d+) kB$", re.MULTILINE)

ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment variables that numpy's libraries for matrix products read when they are loaded."""


def use_one_blas_thread() -> None:
    """Let matrix products of this process and its children take one thread unless the user sets more.

    They are small, and the threads of all cores would wait for the next one in a loop: an inference of 0.17 s
    took 2.1 s of processor time on 16 cores, whatever `--threads` was. Call this before numpy is imported.
    """
    for name, threads in ONE_BLAS_THREAD.items():
        os.environ.setdefault(name, threads)


def require_memory(needed: int, what: str, hint: str, error: type[SycladeError] = OptionError) -> None:
    """Check that there is as much memory as a request takes at least.

    Args:
        needed: bytes, a lower bound.
        what: the request, such as `200000000 chains`.
        hint: what to ask for instead.
        error: the exception to raise.

    Raises:
        OptionError: there is less memory.
    """
    free = available_memory()
    if needed > free:
        raise error(
            f"{what} take at least {_in_words(needed)} of memory, and {_in_words(free)} are free", hint=hint
        )


def available_memory(root: Path = Path("/")) -> int:
    """Return the bytes of memory that this process may take: of the machine, its control group, its limits.

    Source: Linux' man proc_meminfo(5), and Documentation/admin-guide/cgroup-v2.rst (memory.max).

    Args:
        root: folder of `proc` and `sys`; for tests.
    """
    return min(_limits(root), default=sys.maxsize)


def _limits(root: Path) -> Iterator[int]:
    free = _FREE.findall(_text(root / "proc" / "meminfo"))
    if free:
        yield 1024 * sum(map(int, free))
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    groups = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        controllers, _, place = line.partition(":")[2].partition(":")
        top, name = groups, "memory.max"
        if controllers:
            top, name = groups / "memory", "memory.limit_in_bytes"
        if controllers in ("", "memory"):
            group = top / place.strip("/")
            for folder in (group, *group.parents):
                if (limit := _text(folder / name).strip()).isdecimal():
                    yield int(limit)
    if os.name == "posix":
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft != resource.RLIM_INFINITY:
            yield soft


def open_files(wanted: int) -> int:
    """Return how many files this process may have open, after raising its limit to what is wanted if it may.

    Args:
        wanted: number of open files.
    """
    if os.name != "posix":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    except (OSError, ValueError):  # some systems have a lower limit of their own
        return soft
    return possible


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _in_words(size: int) -> str:
    """Return a size in GB, or in MB if it is less than one."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


MOST_BYTES = 2**28
"""Size limit, 256 MiB: a matrix of 10,000 cells and 10,000 mutations has 200 MB."""

_CHUNK = 2**20


def chunks(stream: IO[bytes] | IO[str], most: int | None = None) -> Iterator[bytes]:
    """Yield the content of a stream in pieces.

    Args:
        stream: stream of bytes or text, read to its end; text is encoded as UTF-8.
        most: maximum number of bytes; None takes MOST_BYTES.

    Raises:
        OSError: the stream has more than `most` bytes (EFBIG), or cannot be read.
        ValueError: the stream is closed, or its text is invalid.
    """
    most = MOST_BYTES if most is None else most
    size = 0
    while piece := stream.read(_CHUNK):
        data = piece.encode() if isinstance(piece, str) else bytes(piece)
        size += len(data)
        if size > most:
            raise OSError(errno.EFBIG, f"it has more than {most / 2**20:.0f} MiB")
        yield data


def read_bounded(path: Path, most: int, begins: tuple[bytes, ...] = ()) -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        most: maximum number of bytes.
        begins: allowed first bytes; only the first piece of any other file is read. Empty for no check.

    Raises:
        OSError: the file is longer, or cannot be read.
    """
    with path.open("rb") as stream:
        content = bytearray()
        for piece in chunks(stream, most):
            content += piece
            if begins and not content.startswith(begins):
                break
    return bytes(content)
