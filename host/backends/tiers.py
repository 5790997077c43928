"""Which kernel a run begins with, and which one takes over.

The kernel that is compiled for the very sizes of a problem is the fastest, but takes a compiler some 10 s.
Where it is not in the cache, a run begins with a kernel for many sizes, which comes with the package, and the
other one is compiled in the background if the run is long enough to gain by it. Where there is no such
kernel, a device that was asked for waits for its compiler; only the device `auto` may begin in numpy. Chain
states are values, the same for every kernel, so that a change between two launches changes no result.
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

__all__ = ["GENERAL", "SPECIALISED", "STAGES", "begin"]

logger = logging.getLogger("syclade.tiers")

SPECIALISED, GENERAL, IMAGE, STAGES = "specialised", "general", "image", "stages"
"""A kernel for these sizes, one for many sizes, one from a file, a kernel for each stage."""

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
    explicit: bool,
) -> TieredRunner:
    """Open a runner with the best kernel that is ready.

    Args:
        device, plan, encoding, slots, seed, image: as for `make_runner`.
        explicit: whether the device was asked for and has to do every step, so that the call waits for its
            compiler; otherwise the run may begin in numpy, and stay there if the compiler fails.

    Raises:
        DeviceError: see `make_runner`.
    """
    own = partial(make_runner, device, plan, encoding, slots, seed, image)
    if image is not None:
        return TieredRunner(own(), IMAGE)
    if device.kind == NUMPY.kind:
        return TieredRunner(own(), NUMPY.kind)
    kernel = chain_kernel(plan, encoding)
    if device.kind == "python" or _is_at_hand(device, kernel):
        return TieredRunner(own(), SPECIALISED)
    compilable = can_compile(device)
    start = partial(_compile_ahead, device, kernel)
    general = _general(device, plan, encoding)
    if general is not None:
        better = Better(SPECIALISED, start, own, WAIT_SECONDS) if compilable else None
        return TieredRunner(make_runner(device, plan, general, slots, seed), GENERAL, better)
    if explicit or not compilable:
        return TieredRunner(own(), SPECIALISED)  # which compiles it, or says why that cannot be
    better = Better(SPECIALISED, start, own, 0.0)
    own_form = choose_encoding("auto", NUMPY, plan.problem)
    return TieredRunner(make_runner(NUMPY, plan, own_form, slots, seed), NUMPY.kind, better)


def _compile_ahead(device: Device, kernel: Kernel) -> Ahead:
    logger.info("compiling the kernel for %s in the background: about 10 s, only once", kernel.size)
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
