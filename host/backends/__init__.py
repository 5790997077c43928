"""Backends: the runners that keep chain states, one kind a technology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.backends.base import Runner
from syclade.host.chains.kernel import chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import Device
from syclade.host.encodings.base import Encoding

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["Runner", "default_slots", "make_runner", "slot_bytes"]

FEWEST_A_UNIT, MOST_A_UNIT = 4, 16
"""Slots a compute unit: with more of them the units end a launch at more nearly the same time."""

NUMPY_SLOTS = 256
"""Most slots of the fallback: the cost of its calls is spread over all of them."""

UNIT_BYTES = 2**20
"""More than the fewest slots only if those of a unit take no more than this, which its own cache holds."""


def make_runner(
    device: Device, plan: Plan, encoding: Encoding, slots: int, seed: int, image: Image | None = None
) -> Runner:
    """A runner of `slots` slots on a device, with its kernel from an image if there is one.

    Args:
        device: a usable one.
        plan: what the chains are put together from.
        encoding: how trees stand in the device's memory; one of `encodings_of` the device.
        slots: chain states at once.
        seed: of the random numbers, 0 … 2^64-1.
        image: a precompiled kernel.

    Raises:
        DeviceError: the device does not open, cannot build the kernel, or has too little memory.
    """
    if device.kind == "numpy":
        from syclade.host.backends.numpy_runner import NumpyRunner

        return NumpyRunner(plan, encoding, slots, seed)
    if device.kind == "native":
        from syclade.host.backends.native_runner import NativeRunner

        return NativeRunner(plan, encoding, slots, seed)
    if device.kind == "python":
        from syclade.host.backends.python_runner import PythonRunner

        return PythonRunner(plan, encoding, slots, seed)
    from syclade.host.backends.sycl_runner import SyclRunner

    return SyclRunner(plan, encoding, slots, seed, device.filter, image)


def default_slots(device: Device, plan: Plan, encoding: Encoding, chains: int) -> int:
    """How many slots keep a device busy, and no more than there are chains."""
    if device.kind == "numpy":
        from syclade.host.backends.numpy_steps import slots_at_once

        wanted = min(NUMPY_SLOTS, slots_at_once(plan))
    else:
        fitting = UNIT_BYTES // slot_bytes(plan, encoding)
        wanted = device.units * min(max(FEWEST_A_UNIT, fitting), MOST_A_UNIT)
    return max(1, min(chains, wanted))


def slot_bytes(plan: Plan, encoding: Encoding) -> int:
    """What a slot takes of a device's memory."""
    sizes = chain_sizes(plan, encoding, 1)
    kernel = chain_kernel(plan, encoding)
    return sum(argument.nbytes(sizes) for argument in kernel.arguments if "slots" in argument.shape)
