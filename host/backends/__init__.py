"""Backends: the runners that keep chain states, one kind a technology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.backends.base import Runner
from syclade.host.devices.choice import Device
from syclade.host.devices.cores import usable_cores
from syclade.host.encodings import Encoding

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["Runner", "default_slots", "make_runner"]

FEWEST_A_UNIT, MOST_A_UNIT = 4, 16
"""Slots a compute unit: with more of them the units end a launch at more nearly the same time."""

UNIT_BYTES = 2**20
"""More than the fewest slots only if those of a unit take no more than this, which its own cache holds."""


def make_runner(
    device: Device, encoding: Encoding, slots: int, seed: int, image: Image | None = None
) -> Runner:
    """A runner of `slots` slots on a device, with its kernel from an image if there is one.

    Raises:
        DeviceError: the device does not open, cannot build the kernel, or has too little memory.
    """
    if device.kind == "numpy":
        from syclade.host.backends.numpy_runner import NumpyRunner

        return NumpyRunner(encoding, slots, seed)
    from syclade.host.backends.sycl_runner import SyclRunner

    return SyclRunner(encoding, slots, seed, device.filter, image)


def default_slots(device: Device, encoding: Encoding, chains: int) -> int:
    """How many slots keep a device busy, and no more than there are chains."""
    if device.kind == "numpy":
        wanted = encoding.numpy_slots() * usable_cores()
    else:
        fitting = UNIT_BYTES // encoding.slot_bytes
        wanted = device.units * min(max(FEWEST_A_UNIT, fitting), MOST_A_UNIT)
    return max(1, min(chains, wanted))
