"""Opening on the first device that works: if `auto` chose a device that fails, the next one is tried."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from syclade.host.device.device import Device, own_devices
from syclade.host.ground.errors import DeviceError, DeviceMemoryError

__all__ = ["open_first"]

logger = logging.getLogger("syclade.devices")

T = TypeVar("T")


def open_first(device: Device, opener: Callable[[Device], T], *, explicit: bool) -> T:
    """Open something on a device; if `auto` chose a device that fails, on the next one.

    A device that passed its test may still fail here: a missing or broken compiler is detected only when
    there is something to compile.

    Args:
        device: the first device to try.
        opener: opens something on a device.
        explicit: whether the user requested this device, so that no other device is tried.

    Raises:
        DeviceError: no device opens, or there is too little memory.
    """
    others = [one for one in own_devices() if one.usable]
    while True:
        try:
            return opener(device)
        except DeviceMemoryError:
            raise  # use fewer slots instead of another device
        except DeviceError as error:
            others = others[others.index(device) + 1 :] if device in others else others
            if explicit or not others:
                raise
            slower = ", which is slower" if others[0].kind == "numpy" else ""
            logger.warning("falling back to %s%s: %s: %s", others[0].filter, slower, device.filter, error)
            device = others[0]
