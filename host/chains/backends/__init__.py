"""Runners of chains: they put chain states into the slots of an engine, and advance them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.encodings import Encoding
from syclade.host.chains.kernel import chain_allocation, chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.device.device import Device
from syclade.host.device.engines import open_engine
from syclade.host.device.work import IMAGE, SPECIALISED

if TYPE_CHECKING:
    from syclade.host.device.compile.image import Image

__all__ = ["GPU_SLOTS_A_UNIT", "Runner", "default_slots", "make_runner", "slot_bytes"]

logger = logging.getLogger("syclade.devices")

FEWEST_A_UNIT, MOST_A_UNIT = 4, 16
"""Limits of the slots per compute unit. With more slots, the units finish a launch closer together."""

NUMPY_SLOTS = 256
"""Most slots of the numpy fallback, whose overhead per call is shared by all slots."""

GPU_SLOTS_A_UNIT = 16
"""Slots per multiprocessor of a GPU: more warps hide the latency of its memory, and make launches longer."""

_SPARE_BYTES = 2**28
"""Memory of a GPU that is left free: for kernels, and stacks of their threads."""

UNIT_BYTES = 2**20
"""Memory limit of a unit's slots beyond `FEWEST_A_UNIT`: the unit's own cache holds this much."""


def make_runner(
    device: Device,
    plan: Plan,
    encoding: Encoding,
    slots: int,
    seed: int,
    image: Image | None = None,
    *,
    kernel: str = SPECIALISED,
) -> Runner:
    """Make a runner on a device, with the kernel of an image if one is given.

    Args:
        device: a usable device.
        plan: the parts of the chains.
        encoding: how trees are stored in the device's memory; one of `encodings_of` the device.
        slots: number of chain states that the runner holds at once.
        seed: seed of the random numbers, 0 … 2^64-1.
        image: a precompiled kernel.
        kernel: name of the kernel that belongs to the encoding, as in `WorkDone`.

    Raises:
        DeviceError: the device does not open, cannot build the kernel, or has too little memory.
    """
    if device.kind == "numpy":
        from syclade.host.chains.backends.numpy_runner import make_numpy_runner

        return make_numpy_runner(plan, encoding, slots, seed)
    described = chain_kernel(plan, encoding)
    allocation = chain_allocation(plan, encoding, slots, seed, described.arguments)
    engine = open_engine(device, allocation, images={} if image is None else {described.name: image})
    return Runner(plan, encoding, seed, engine, engine.load(described), kernel if image is None else IMAGE)


def default_slots(device: Device, plan: Plan, encoding: Encoding, chains: int) -> int:
    """Return how many slots keep a device busy, at most the number of chains."""
    if device.kind == "numpy":
        from syclade.host.chains.backends.numpy_runner import slots_at_once

        wanted = min(NUMPY_SLOTS, slots_at_once(plan))
    elif device.kind == "cuda":
        wanted = _slots_of_gpu(device, plan, encoding, chains)
    else:
        fitting = UNIT_BYTES // slot_bytes(plan, encoding)
        wanted = device.units * min(max(FEWEST_A_UNIT, fitting), MOST_A_UNIT)
    return max(1, min(chains, wanted))


def _slots_of_gpu(device: Device, plan: Plan, encoding: Encoding, chains: int) -> int:
    """Return how many slots keep a GPU busy, or how many its free memory holds, if these are fewer."""
    from syclade.host.device.cuda import open_gpu

    wanted = min(chains, device.units * GPU_SLOTS_A_UNIT)
    free = open_gpu(device).free_bytes() - _SPARE_BYTES
    fitting = max(1, (free - _bytes_of(plan, encoding, per_slot=False)) // slot_bytes(plan, encoding))
    if fitting < wanted:
        logger.info("%s has room for %d chains at once: chains take turns", device.name, fitting)
    return min(wanted, fitting)


def slot_bytes(plan: Plan, encoding: Encoding) -> int:
    """Return the device memory of one slot, in bytes."""
    return _bytes_of(plan, encoding, per_slot=True)


def _bytes_of(plan: Plan, encoding: Encoding, *, per_slot: bool) -> int:
    """Return the device memory of a slot's arguments, or of those that all slots share, in bytes."""
    sizes = chain_sizes(plan, encoding, 1)
    arguments = chain_kernel(plan, encoding).arguments
    return sum(one.nbytes(sizes) for one in arguments if ("slots" in one.shape) == per_slot)
