"""This processor instead of a CPU device, where it starts sooner: its code is there, and is as fast."""

from __future__ import annotations

from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import machine_code
from syclade.host.device.device import Device, native_device

__all__ = ["prompt_device"]


def prompt_device(plan: Plan) -> Device | None:
    """Return this processor if `auto` would choose a CPU device and the machine code is there; else None.

    The driver of a CPU device would have to translate the kernel for the sizes of the matrix first.
    """
    if choose_device().kind != "cpu":
        return None
    native = native_device()
    general = choose_encoding(
        "auto", native, plan.problem, plan.space.encoding, shares=plan.score.shares
    ).general()
    ready = general is not None and machine_code.is_compiled(chain_kernel(plan, general))
    return native if ready else None
