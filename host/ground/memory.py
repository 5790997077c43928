"""Memory that a request takes: checked before any of it is taken, since Linux grants more than it has.

Otherwise the process is killed without a message, or takes the machine's other programs down with it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from syclade.host.ground.errors import OptionError, SycladeError

__all__ = ["available_memory", "require_memory"]

_FREE = re.compile(r"^(?:MemAvailable|SwapFree): +(\d+) kB$", re.MULTILINE)


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
    told = _FREE.findall(_text(root / "proc" / "meminfo"))
    if told:
        yield 1024 * sum(map(int, told))
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


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _in_words(size: int) -> str:
    """Return a size in GB, or in MB if it is less than one."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
