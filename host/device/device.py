"""Devices: their description, those without SYCL, the cores of this process, and queues of SYCL devices.

The user, the batch system or the container limits the cores.

A child that is forked from a process with an open queue has the SYCL runtime's memory, but none of its
threads. The FPGA emulator 2024.2.2 waits for these threads forever, and no runtime guarantees to work in
such a child. So there an error is raised.
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.device.workarounds import in_order_queue, prepare
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import install_command, version_of

if TYPE_CHECKING:
    from dpctl import SyclDevice, SyclQueue

__all__ = [
    "DRIVERS_VARIABLE",
    "KINDS",
    "NUMPY",
    "PYTHON",
    "THREADS_VARIABLE",
    "Device",
    "cores_of_process",
    "device_of",
    "is_gpu",
    "kind_of",
    "limit_drivers",
    "native_device",
    "native_problem",
    "note_sycl_use",
    "open_queue",
    "own_devices",
    "queue_beside",
    "refuse_inherited_sycl",
    "require_float64",
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


@cache  # an inference asks ten times
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


def open_queue(device_filter: str, *, timed: bool = False) -> SyclQueue:
    """Open a `dpctl.SyclQueue` on a device.

    Args:
        device_filter: filter string of the device.
        timed: whether events record the start and end times of their launches, and launches wait only for
            those that they name; else each waits for all before it.

    Raises:
        DeviceError: the device does not open, or this process was forked from one that had used SYCL.
    """
    note_sycl_use()
    dpctl = prepare()
    try:
        if timed:
            return dpctl.SyclQueue(device_filter, property=["enable_profiling"])
        return in_order_queue(device_filter)
    except Exception as error:  # dpctl's exceptions differ between versions
        raise DeviceError(
            f"device {device_filter} does not open: {error}", hint="run `syclade devices` to look again"
        ) from error


def queue_beside(queue: SyclQueue) -> SyclQueue:
    """Return another queue on the same device and memory, whose launches do not wait for the other's."""
    return in_order_queue(queue.sycl_context, queue.sycl_device)


def require_float64(queue: SyclQueue) -> None:
    """Check that a device computes with numbers of 64 bits, as kernels of probabilities do.

    Raises:
        DeviceError: it does not.
    """
    device = queue.sycl_device
    if not device.has_aspect_fp64:
        raise DeviceError(
            f"{device.name.strip()} has no 64-bit floating-point numbers, which this kernel needs",
            hint=f"use another device: {flag_of('device', 'cpu')}, or native",
        )


def kind_of(device: SyclDevice) -> str:
    """Return the kind of a dpctl device: cpu, fpga-emu, fpga, gpu or other."""
    kind = str(device.device_type).rpartition(".")[2]
    if kind == "accelerator":
        return "fpga-emu" if "emulat" in device.name.lower() else "fpga"
    return kind if kind in ("cpu", "gpu") else "other"


def device_of(queue: SyclQueue) -> Device:
    """Return the device of a queue, as its driver describes it: the one that launches really run on."""
    device = queue.sycl_device
    return Device(
        device.filter_string,
        device.name.strip(),
        kind_of(device),
        device.max_compute_units,
        driver=device.driver_version,
    )


_used = False
_inherited = False


def note_sycl_use() -> None:
    """Note that a queue is about to be opened in this process.

    Raises:
        DeviceError: as for `refuse_inherited_sycl`.
    """
    global _used
    refuse_inherited_sycl()
    _used = True


def refuse_inherited_sycl() -> None:
    """Check that this process was not forked from one that had used SYCL.

    Raises:
        DeviceError: it was.
    """
    if _inherited:
        raise DeviceError(
            "this process was forked from one that had used a SYCL device, and the SYCL runtime does not "
            "survive that",
            hint="start processes by multiprocessing's 'spawn' or 'forkserver', or take "
            f"{flag_of('device', 'native')} here",
        )


def _note_fork() -> None:
    global _inherited
    _inherited = _inherited or _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
