"""The kernel of a run: one rule, one kernel, from the first step to the last.

SYCL devices run kernels with specialisation constants, which their driver translates within two seconds for
every new size. A short run that would wait for that takes the kernel for all sizes instead, if it comes with
the package. This processor runs the precompiled kernel for all sizes; numba compiles one for the size, which
takes some ten seconds, only where the run is long enough to gain by it, or where none is precompiled.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.compile import machine_code, program
from syclade.host.devices.device import NUMPY, Device
from syclade.host.encodings.base import Encoding

__all__ = ["GENERAL", "IMAGE", "SPECIALISED", "STAGES", "Choice", "choose_kernel"]

logger = logging.getLogger("syclade.program")

SPECIALISED, GENERAL, IMAGE, STAGES = "specialised", "general", "image", "stages"
"""A kernel for these sizes, one for many sizes, one from a file, one kernel per stage."""

SHORT_SECONDS = 3.0
"""A run this short ends sooner with the general kernel, a third slower, than a driver translates another."""

LONG_SECONDS = 80.0
"""A run this long gains more by a kernel for its size than numba takes to compile it."""

_STEP_NANOSECONDS, _CELL_NANOSECONDS = 30.0, 1.4
"""About the time of a chain step on one core, and what each distinct column adds."""


class Choice(NamedTuple):
    """Kernel of a run.

    Attributes:
        encoding: how trees are stored for it.
        kernel: SPECIALISED, GENERAL, or numpy.
    """

    encoding: Encoding
    kernel: str


def choose_kernel(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run.

    Args:
        device: a usable one.
        plan: what the chains are put together from.
        encoding: from `choose_encoding`.
        steps: of all chains together; None for a run until chains agree.
    """
    if device.kind == NUMPY.kind:
        return Choice(encoding, NUMPY.kind)
    if device.kind == "native":
        return _native_choice(device, plan, encoding, steps)
    general = encoding.general() if device.is_sycl else None
    if (
        general is None
        or not _is_short(device, plan, steps)
        or not program.is_at_hand(chain_kernel(plan, general))
    ):
        return Choice(encoding, SPECIALISED)
    queue = _queue(device)
    if program.is_translated(queue, chain_kernel(plan, encoding)):
        return Choice(encoding, SPECIALISED)
    return Choice(general, GENERAL)


def _native_choice(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """See `choose_kernel`."""
    general = encoding.general()
    if general is None or not machine_code.is_at_hand(chain_kernel(plan, general)):
        return Choice(encoding, SPECIALISED)
    if machine_code.is_at_hand(chain_kernel(plan, encoding)):
        return Choice(encoding, SPECIALISED)
    seconds = _seconds(device, plan, steps)
    if seconds is not None and seconds > LONG_SECONDS:
        return Choice(encoding, SPECIALISED)
    return Choice(general, GENERAL)


def _is_short(device: Device, plan: Plan, steps: int | None) -> bool:
    seconds = _seconds(device, plan, steps)
    return seconds is not None and seconds < SHORT_SECONDS


def _seconds(device: Device, plan: Plan, steps: int | None) -> float | None:
    """About how long a run takes; None if it ends when chains agree."""
    if steps is None:
        return None
    step = _STEP_NANOSECONDS + _CELL_NANOSECONDS * plan.problem.columns
    return steps * step * 1e-9 / max(device.units, 1)


def _queue(device: Device) -> Any:
    from syclade.host.backends.sycl_arrays import open_queue

    return open_queue(device.filter)
