"""The devices there are, whether each can run, and which one to take.

What a probe found is remembered in the user's cache, so that only the first process pays for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import Any

from syclade.host.compile.cache import read_cached, write_cached
from syclade.host.compile.machine_code import native_problem
from syclade.host.devices.cores import usable_cores
from syclade.host.errors import DeviceError

__all__ = ["NUMPY", "PYTHON", "Device", "choose_device", "list_devices"]

logger = logging.getLogger("syclade.devices")

PROBE_TIMEOUT = 120  # seconds; a cold runtime takes about 3
AUTO_ORDER = ("cpu", "gpu", "native", "fpga-emu", "numpy")
KINDS = ("cpu", "fpga-emu", "fpga", "gpu", "native", "python", "numpy")
_STACK = ("dpctl", "intel-sycl-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "intel-cmplr-lib-rt")

_SELECTING = ("OCL_ICD_FILENAMES", "ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_ALLOWLIST")
"""Variables by which a user may hide devices: a list made under others says nothing."""


@dataclass(frozen=True)
class Device:
    """One place where chains can run.

    Attributes:
        filter: dpctl filter string, such as `opencl:cpu:0`; `native` or `numpy`.
        name: as the driver gives it.
        kind: cpu, fpga-emu, fpga, gpu, other, native or numpy.
        units: number of compute units.
        reason: why it cannot be used; None if it can.
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
        """Whether chains can run here."""
        return self.reason is None

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "usable": self.usable}


NUMPY = Device("numpy", "numpy fallback", "numpy", 1)

PYTHON = Device("python", "kernels run by Python itself, for debugging", "python", 1)
"""Taken when asked for, and not listed: nobody wants it by accident."""


def native_device() -> Device:
    """This processor, by numba."""
    reason = native_problem()
    driver = "" if reason else f"numba {metadata.version('numba')}"
    return Device("native", "this processor, by numba", "native", usable_cores(), reason, driver)


def own_devices() -> list[Device]:
    """Those that need no SYCL."""
    return [native_device(), NUMPY]


def list_devices(*, refresh: bool = False) -> list[Device]:
    """All devices: those of SYCL, this processor by numba, and the numpy fallback last.

    Args:
        refresh: probe again instead of using what is remembered.

    Returns:
        Usable and unusable devices. Without the SYCL stack only the fallback; `stack_problem` says why.
    """
    return [*_probe_result(refresh=refresh)[0], *own_devices()]


def stack_problem() -> str | None:
    """Why there is no SYCL device at all; None if there is one."""
    return _probe_result()[1]


def choose_device(wanted: str = "auto") -> Device:
    """The device that a request means.

    Args:
        wanted: auto, a kind (cpu, fpga-emu, fpga, gpu, native, python, numpy) or a dpctl filter string.

    Raises:
        DeviceError: an explicit request that cannot be met, with the reason.
    """
    if wanted in ("numpy", "python"):
        return NUMPY if wanted == "numpy" else PYTHON
    if wanted == "native":
        return _usable(wanted, [native_device()])
    devices, problem = _probe_result()
    if wanted == "auto":
        return _best([*devices, *own_devices()], problem)
    matching = [device for device in devices if wanted in (device.kind, device.filter)]
    if not matching and wanted not in KINDS:
        matching = [device for device in devices if device.filter == _resolve(wanted)]
    if not matching:
        raise DeviceError(
            f"there is no device {wanted!r}" + (f": {problem}" if problem else ""),
            hint="`syclade devices` lists what there is; --device numpy always works",
        )
    return _usable(wanted, matching)


def _usable(wanted: str, matching: list[Device]) -> Device:
    """The first that can run of those that a request means."""
    usable = [device for device in matching if device.usable]
    if not usable:
        raise DeviceError(f"device {wanted!r} ({matching[0].name}) cannot run: {matching[0].reason}")
    logger.info("device %s (%s), as asked", usable[0].filter, usable[0].name)
    return usable[0]


def _best(devices: list[Device], problem: str | None) -> Device:
    """The first usable device in AUTO_ORDER; logs the choice and its reason."""
    for kind in AUTO_ORDER:
        for device in devices:
            if device.kind == kind and device.usable:
                if kind == "numpy":
                    why = "; ".join(filter(None, (problem, _reasons(devices))))
                    logger.warning("falling back to numpy, which is slower: %s", why)
                elif kind == "native" and problem is None:
                    logger.warning("going on by numba, for no SYCL device can run: %s", _reasons(devices))
                else:
                    logger.info(
                        "device %s (%s): the best usable kind is %s", device.filter, device.name, kind
                    )
                return device
    raise AssertionError("numpy is always usable")


def _reasons(devices: list[Device]) -> str:
    """Why those that cannot run cannot."""
    return "; ".join(f"{one.filter}: {one.reason}" for one in devices if not one.usable)


def _resolve(wanted: str) -> str | None:
    """The full filter string of a shorter one, such as `cpu:0` or `opencl:cpu`."""
    try:
        from syclade.host.workarounds import prepare

        return str(prepare().SyclDevice(wanted).filter_string)
    except Exception:  # dpctl's exceptions differ between versions
        return None


def _probe_result(*, refresh: bool = False) -> tuple[list[Device], str | None]:
    """(devices, why there are none), from the cache or from a probe."""
    versions = _stack_versions()
    if versions is None:
        return (
            [],
            "the SYCL stack is not installed (pip install 'syclade[sycl]', Linux x86_64 and Python 3.11)",
        )
    selection = [os.environ.get(name) for name in _SELECTING]
    identity = json.dumps([versions, sys.executable, sys.version, selection])
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    remembered = None if refresh else read_cached(f"devices-{key}.json")
    if remembered is not None:
        try:
            found = json.loads(remembered)
            return [_remembered(device) for device in found["devices"]], found["problem"]
        except (ValueError, TypeError, KeyError, RecursionError):
            pass  # a damaged cache is no cache
    devices, problem = _probe()
    if problem is None:
        content = {"devices": [asdict(device) for device in devices], "problem": problem}
        write_cached(f"devices-{key}.json", json.dumps(content).encode())
    return devices, problem


def _remembered(entry: Any) -> Device:
    """A device, if this describes one; else a TypeError."""
    device = Device(**entry)
    texts = (device.filter, device.name, device.kind, device.driver, device.reason or "")
    if type(device.units) is not int or not all(isinstance(text, str) for text in texts):
        raise TypeError("this describes no device")
    return device


def _stack_versions() -> list[str] | None:
    """Versions of the SYCL stack; None if dpctl is not installed."""
    versions = []
    for name in _STACK:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            if name == "dpctl":
                return None
    return versions


def _probe() -> tuple[list[Device], str | None]:
    """Try every device in another process, going on after a crash with those not yet tried."""
    lines, failure = _run_probe([])
    found = [line["devices"] for line in lines if "devices" in line]
    if not found:
        return [], f"listing the SYCL devices failed: {failure}"
    devices = {entry["filter"]: Device(**entry) for entry in found[0]}
    pending = set(devices)
    while pending:
        tried = {line["tried"]: line["reason"] for line in lines if "tried" in line}
        started = [line["trying"] for line in lines if "trying" in line]
        for name in started:
            devices[name] = replace(devices[name], reason=tried.get(name, f"its runtime {failure}"))
            pending.discard(name)
        if pending:
            if not started:
                break
            lines, failure = _run_probe(sorted(pending))
    for name in pending:
        devices[name] = replace(devices[name], reason="could not be tried")
    return list(devices.values()), None if devices else "the SYCL runtime lists no device"


def _run_probe(filters: list[str]) -> tuple[list[dict[str, Any]], str]:
    """Lines that the probe printed, and how it ended if not well."""
    # -P: files of the folder that this process happens to stand in are no modules of the probe.
    command = [sys.executable, "-P", "-m", "syclade.host.devices.probe", *filters]
    failure = ""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROBE_TIMEOUT,
            check=False,
        )
        output = done.stdout
        if done.returncode < 0:
            failure = f"crashes the process (signal {-done.returncode})"
        elif done.returncode:
            failure = done.stderr.strip().rpartition("\n")[2] or f"exits with {done.returncode}"
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or ""
        output = printed.decode(errors="replace") if isinstance(printed, bytes) else printed
        failure = f"does not answer within {PROBE_TIMEOUT} s"
    except OSError as error:
        output, failure = "", f"{sys.executable or 'Python'} does not start: {error.strerror}"
    lines: list[dict[str, Any]] = []
    for line in output.splitlines():
        # A driver may print to standard output, too.
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                lines.append(entry)
    return lines, failure
