"""Devices: their description, those that do not need SYCL, and the cores that this process may use.

The user, the batch system or the container limits the cores.
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import install_command, version_of

__all__ = [
    "DRIVERS_VARIABLE",
    "KINDS",
    "NUMPY",
    "PYTHON",
    "THREADS_VARIABLE",
    "Device",
    "cores_of_process",
    "is_gpu",
    "limit_drivers",
    "native_device",
    "native_problem",
    "own_devices",
    "take_share",
    "usable_cores",
]

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


KINDS = ("cpu", "fpga-emu", "fpga", "gpu", "cuda", "native", "python", "numpy")


def native_problem() -> str | None:
    """Return why kernels cannot be compiled for this processor; None if they can."""
    for name in ("numba", "llvmlite"):
        if version_of(name) is None:
            return f"{name} is not installed ({install_command()})"
    return None


@dataclass(frozen=True)
class Device:
    """A device that chains can run on.

    Attributes:
        filter: dpctl filter string, such as `opencl:cpu:0`; or `cuda:0`, `native`, `python` or `numpy`.
        name: name that the driver reports.
        kind: cpu, fpga-emu, fpga, gpu, cuda, other, native, python or numpy.
        units: number of compute units.
        reason: why the device cannot be used; None if it can.
        driver: version of the driver.
    """

    filter: str
    name: str
    kind: str
    units: int
    reason: str | None = None
    driver: str = ""

    @property
    def usable(self) -> bool:
        """Return whether chains can run on the device."""
        return self.reason is None

    @property
    def takes_spirv(self) -> bool:
        """Return whether the device runs SPIR-V kernels, which its driver translates."""
        return self.kind not in ("cuda", "native", "python", "numpy", "fpga")

    def as_dict(self) -> dict[str, object]:
        """Return the attributes and `usable` as plain values for JSON."""
        return {**asdict(self), "usable": self.usable}


NUMPY = Device("numpy", "numpy fallback", "numpy", 1)

PYTHON = Device("python", "kernels run by Python itself, for debugging", "python", 1)
"""Used only on explicit request, and not listed, so that nobody uses it by accident."""


def is_gpu(name: str) -> bool:
    """Return whether a name of a device is that of an NVIDIA GPU: `cuda`, or `cuda:` and a number."""
    return re.fullmatch(r"cuda(:\d+)?", name) is not None


def native_device() -> Device:
    """Return this processor as a device, with kernels by numba."""
    reason = native_problem()
    driver = "" if reason else f"numba {version_of('numba')}"
    return Device("native", "this processor, by numba", "native", usable_cores(), reason, driver)


def own_devices() -> list[Device]:
    """Return the listed devices that do not need SYCL."""
    return [native_device(), NUMPY]
