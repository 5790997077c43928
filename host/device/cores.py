"""Number of cores that this process may use: limited by the user, the batch system or the container."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from syclade.host.ground.errors import OptionError

__all__ = [
    "DRIVERS_VARIABLE", "THREADS_VARIABLE", "cores_of_process", "limit_drivers", "take_share",
    "usable_cores",
]  # fmt: skip

THREADS_VARIABLE = "SYCLADE_THREADS"
"""Environment variable with the user's number of threads; ``--threads`` sets it."""

DRIVERS_VARIABLE = "DPCPP_CPU_NUM_CUS"
"""Environment variable that limits Intel's OpenCL drivers for the CPU and the FPGA emulator.

The drivers ignore a container's quota.
"""


_share = threading.local()


def take_share(cores: int) -> None:
    """Let this thread use a part of the process's cores, since runs side by side share them.

    Args:
        cores: number of cores, from 1 to those of the process.
    """
    _share.cores = cores


def usable_cores() -> int:
    """Return the number of cores that this thread may use: those of the process, or its share of them.

    Raises:
        OptionError: as for `cores_of_process`.
    """
    share: int | None = getattr(_share, "cores", None)
    return cores_of_process() if share is None else share


def cores_of_process() -> int:
    """Return the number of cores that this process may use.

    This is SYCLADE_THREADS if it is set, else the container's CPU quota, rounded up, if there is one. It
    never exceeds the cores that the process may run on, as set by `taskset` or a batch system.

    Raises:
        OptionError: SYCLADE_THREADS is not a whole number from 1 to 2147483647.
    """
    allowed = _allowed()
    given = os.environ.get(THREADS_VARIABLE, "").strip()
    if not given:
        return min(allowed, _quota() or allowed)
    if not given.isdecimal() or not 1 <= int(given) < 2**31:
        raise OptionError(f"{THREADS_VARIABLE} is {given!r}", hint="give a number of threads, at least 1")
    return min(allowed, int(given))


def limit_drivers() -> None:
    """Limit OpenCL's drivers to the process's cores, unless the user has set a limit, before they load."""
    cores = cores_of_process()
    if DRIVERS_VARIABLE not in os.environ and cores < _allowed():
        os.environ[DRIVERS_VARIABLE] = str(cores)


def _allowed() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """Return the cores that the process's control groups allow, rounded up; None if they set no limit.

    Source: Linux' Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst.
    """
    try:
        lines = own.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    found = []
    for line in lines:
        number, controllers, place = (*line.split(":", 2), "", "")[:3]
        if number == "0" and not controllers:
            group = root / place.strip("/")
            for above in (group, *group.parents):
                if root in (above, *above.parents):
                    found.append(_cores_of(*_words(above / "cpu.max")))
        elif "cpu" in controllers.split(","):
            for group in (root / "cpu" / place.strip("/"), root / "cpu"):
                quota, period = _words(group / "cpu.cfs_quota_us"), _words(group / "cpu.cfs_period_us")
                found.append(_cores_of(*quota, *period))
    return min((cores for cores in found if cores is not None), default=None)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []


def _cores_of(quota: str = "", period: str = "", *_more: str) -> int | None:
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0 or int(quota) == 0:
        return None  # "max", -1: no limit
    return -(-int(quota) // int(period))
