"""Which kernel a run begins with, and which one takes over: tiers, as in a browser's engine.

The kernel that is compiled for the very sizes of a problem is the fastest, but takes a compiler 8 s. Where it
is not in the cache, a run begins with a kernel for many sizes that comes with the package, or else in numpy.
Beside a run that is long enough to gain by it the other kernel is compiled, and takes over between two
launches. Chain states are values, and the same on every tier: only the clock can tell.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from syclade.host.backends import make_runner
from syclade.host.backends.tiered_runner import Better, TieredRunner
from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.compile import machine_code, program
from syclade.host.compile.ahead import Ahead, can_compile
from syclade.host.compile.kernel import Kernel
from syclade.host.devices.device import NUMPY, Device
from syclade.host.encodings import choose_encoding
from syclade.host.encodings.base import Encoding

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["GENERAL", "SPECIALISED", "begin"]

logger = logging.getLogger("syclade.tiers")

SPECIALISED, GENERAL, IMAGE = "specialised", "general", "image"
"""Tiers: a kernel for these sizes, one for many sizes, one from a file; others have their device's name."""

WAIT_SECONDS = 4.0
"""A run that has taken half as long as a compilation is worth one."""


def begin(
    device: Device,
    plan: Plan,
    encoding: Encoding,
    slots: int,
    seed: int,
    image: Image | None = None,
    *,
    needed: bool = True,
) -> TieredRunner:
    """A runner that begins at once, if anything can.

    Args:
        device, plan, encoding, slots, seed, image: as for `make_runner`.
        needed: whether a run that begins in numpy has to get to the device, or may go on there.

    Raises:
        DeviceError: see `make_runner`.
    """
    own = partial(make_runner, device, plan, encoding, slots, seed, image)
    if image is not None:
        return TieredRunner(own(), IMAGE)
    if device.kind in ("numpy", "python"):
        return TieredRunner(own(), device.kind)
    kernel = chain_kernel(plan, encoding)
    if _is_at_hand(device, kernel):
        return TieredRunner(own(), SPECIALISED)
    compilable = can_compile(device)
    start = partial(_begin, device, kernel)
    general = _general(device, plan, encoding)
    if general is not None:
        better = Better(SPECIALISED, start, own, WAIT_SECONDS, needed=False) if compilable else None
        return TieredRunner(make_runner(device, plan, general, slots, seed), GENERAL, better)
    if not compilable:
        return TieredRunner(own(), SPECIALISED)  # which says why there is none
    better = Better(SPECIALISED, start, own, 0.0, needed=needed)
    own_form = choose_encoding("auto", NUMPY, plan.problem)
    return TieredRunner(make_runner(NUMPY, plan, own_form, slots, seed), NUMPY.kind, better)


def _begin(device: Device, kernel: Kernel) -> Ahead:
    logger.info("compiling the kernel for %s beside the run: about 10 s, only once", kernel.size)
    logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    return Ahead(device, [kernel])


def _general(device: Device, plan: Plan, encoding: Encoding) -> Encoding | None:
    """The encoding for a kernel for many sizes, if that kernel is at hand."""
    general = encoding.general()
    if general is None or not _is_at_hand(device, chain_kernel(plan, general)):
        return None
    return general


def _is_at_hand(device: Device, kernel: Kernel) -> bool:
    return machine_code.is_at_hand(kernel) if device.kind == "native" else program.is_at_hand(kernel)
