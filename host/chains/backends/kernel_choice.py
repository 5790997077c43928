"""Choice of a run's kernel. A run uses the same kernel from its first step to its last.

SYCL devices run kernels with specialisation constants. Their driver translates such a kernel for every new
size, which takes up to two seconds. A short run that would have to wait for the translation uses the general
kernel instead, if that one is precompiled or cached.

This processor runs the kernel for the size if that one is precompiled or cached; otherwise the general
kernel, if that one is. numba compiles a kernel for the size, which takes about ten seconds, only if the run
is long enough to gain by it or the general kernel would have to be compiled, too.
"""

from __future__ import annotations

from typing import NamedTuple

from syclade.host.chains.encodings.base import Encoding
from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.device.compile import machine_code, program
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.work import GENERAL, SPECIALISED

__all__ = ["Choice", "choose_kernel"]

SHORT_SECONDS = 3.0
"""Shorter runs use the general kernel: it is a third slower, but it needs no translation by the driver."""

LONG_SECONDS = 80.0
"""Longer runs save more time by a kernel for their size than numba takes to compile it."""

_STEP_NANOSECONDS, _CELL_NANOSECONDS = 30.0, 1.4
"""Approximate time of a chain step on one core, and the additional time per distinct column."""


class Choice(NamedTuple):
    """Kernel of a run.

    Attributes:
        encoding: how trees are stored for the kernel.
        kernel: SPECIALISED, GENERAL, or numpy.
    """

    encoding: Encoding
    kernel: str


def choose_kernel(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run.

    Args:
        device: a usable device.
        plan: the parts of the chains.
        encoding: from `choose_encoding`.
        steps: steps of all chains together; None if the chains run until they agree.
    """
    if device.kind == NUMPY.kind:
        return Choice(encoding, NUMPY.kind)
    if device.kind == "native":
        return _native_choice(device, plan, encoding, steps)
    if device.takes_spirv:
        return _sycl_choice(device, plan, encoding, steps)
    return Choice(encoding, SPECIALISED)


def _sycl_choice(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run on a SYCL device; see `choose_kernel`."""
    from syclade.host.device.queue import open_queue

    general = encoding.general()
    seconds = _seconds(device, plan, steps)
    if general is None or seconds is None or seconds >= SHORT_SECONDS:
        return Choice(encoding, SPECIALISED)
    if program.is_translated(open_queue(device.filter), chain_kernel(plan, encoding)):
        return Choice(encoding, SPECIALISED)
    if not program.is_compiled(chain_kernel(plan, general)):
        return Choice(encoding, SPECIALISED)
    return Choice(general, GENERAL)


def _native_choice(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run on this processor; see `choose_kernel`."""
    general = encoding.general()
    if general is None or not machine_code.is_compiled(chain_kernel(plan, general)):
        return Choice(encoding, SPECIALISED)
    if machine_code.is_compiled(chain_kernel(plan, encoding)):
        return Choice(encoding, SPECIALISED)
    seconds = _seconds(device, plan, steps)
    if seconds is not None and seconds > LONG_SECONDS:
        return Choice(encoding, SPECIALISED)
    return Choice(general, GENERAL)


def _seconds(device: Device, plan: Plan, steps: int | None) -> float | None:
    """Estimate how long a run takes, in seconds; None if it ends when the chains agree."""
    if steps is None:
        return None
    step = _STEP_NANOSECONDS + _CELL_NANOSECONDS * plan.problem.columns
    return steps * step * 1e-9 / max(device.units, 1)
