"""Cache of device surveys in the user's cache folder, so that only the first process makes a survey.

A cached survey is valid only for the Python, SYCL stack, host, number of cores and selection of devices that
it was made with.
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

from syclade.host.device.cores import cores_of_process
from syclade.host.device.device import Device
from syclade.host.device.survey import SELECTING, Survey
from syclade.host.ground.cache import forget_cached, read_cached, write_cached
from syclade.host.ground.distributions import version_of

__all__ = ["recall", "remember", "stack_versions"]

_STACK = ("dpctl", "intel-sycl-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "intel-cmplr-lib-rt")


def stack_versions() -> list[str] | None:
    """Return the versions of the SYCL stack's packages; None if dpctl is not installed."""
    versions = []
    for name in _STACK:
        version = version_of(name)
        if version is not None:
            versions.append(f"{name} {version}")
        elif name == "dpctl":
            return None
    return versions


def recall(versions: Sequence[str]) -> Survey | None:
    """Return the cached survey for this stack and host; None if there is none, or it is damaged."""
    content = read_cached(_name(versions))
    if content is None:
        return None
    try:
        devices = tuple(_device(entry) for entry in json.loads(content)["devices"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # damaged: as if not cached
    return Survey(devices, remembered=True) if devices else None


def remember(versions: Sequence[str], found: Survey) -> None:
    """Cache a survey; if it found no devices, delete the cached one."""
    name = _name(versions)
    if found.problem is not None:
        forget_cached(name)
        return
    content = {"devices": [asdict(device) for device in found.devices]}
    write_cached(name, json.dumps(content).encode())


def _name(versions: Sequence[str]) -> str:
    """Return the file's name, with a digest of everything that the content is valid for."""
    here = [platform.node(), platform.machine(), cores_of_process()]
    selection = [os.environ.get(name) for name in SELECTING]
    identity = json.dumps([*versions, sys.executable, sys.version, here, selection])
    return f"devices-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json"


def _device(entry: Any) -> Device:
    """Return the device that an entry describes.

    Raises:
        TypeError: the entry does not describe a device.
    """
    device = Device(**entry)
    texts = (device.filter, device.name, device.kind, device.driver, device.reason or "")
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a device's words are texts")
    if type(device.units) is not int or device.units < 1:
        raise TypeError("a device has a whole number of units")
    return device
