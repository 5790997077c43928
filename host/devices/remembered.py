"""What was found of the devices, remembered in the user's cache: only the first process pays for it.

It holds for the stack, the host, the cores and the choice of devices that it was found with, and no others.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from syclade.host.compile.cache import forget_cached, read_cached, write_cached
from syclade.host.devices.cores import usable_cores
from syclade.host.devices.device import Device
from syclade.host.devices.survey import Survey
from syclade.host.distributions import version_of

__all__ = ["recall", "remember", "stack_versions"]

SELECTING = (
    "DPCPP_CPU_NUM_CUS",
    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",
    "ONEAPI_DEVICE_SELECTOR",
    "SYCL_DEVICE_ALLOWLIST",
    "SYCL_DEVICE_FILTER",
    "ZE_AFFINITY_MASK",
)
"""Variables by which a user hides devices, or parts of them: what was found under others says nothing."""

_STACK = ("dpctl", "intel-sycl-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "intel-cmplr-lib-rt")


def stack_versions() -> list[str] | None:
    """Versions of the SYCL stack; None if dpctl is not installed."""
    versions = []
    for name in _STACK:
        version = version_of(name)
        if version is not None:
            versions.append(f"{name} {version}")
        elif name == "dpctl":
            return None
    return versions


def recall(versions: Sequence[str]) -> Survey | None:
    """What was found with this stack, here; None if nothing is remembered, or it is damaged."""
    content = read_cached(_name(versions))
    if content is None:
        return None
    try:
        devices = tuple(_device(entry) for entry in json.loads(content)["devices"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # a damaged cache is no cache
    return Survey(devices, remembered=True) if devices else None


def remember(versions: Sequence[str], found: Survey) -> None:
    """Keep what was found; where there was nothing, forget what was found before."""
    name = _name(versions)
    if found.problem is not None:
        forget_cached(name)
        return
    content = {"devices": [asdict(device) for device in found.devices]}
    write_cached(name, json.dumps(content).encode())


def _name(versions: Sequence[str]) -> str:
    """The file's name, which says what its content holds for."""
    here = [platform.node(), platform.machine(), usable_cores()]
    selection = [os.environ.get(name) for name in SELECTING]
    identity = json.dumps([*versions, sys.executable, sys.version, here, selection])
    return f"devices-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json"


def _device(entry: Any) -> Device:
    """A device, if an entry describes one.

    Raises:
        TypeError: it does not.
    """
    device = Device(**entry)
    texts = (device.filter, device.name, device.kind, device.driver, device.reason or "")
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a device's words are texts")
    if type(device.units) is not int or device.units < 1:
        raise TypeError("a device has a whole number of units")
    return device
