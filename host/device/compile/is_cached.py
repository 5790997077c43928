"""Sources of a device's kernels: precompiled ones, and a compiler if one is installed."""

from __future__ import annotations

from syclade.host.device.compile.compiler_check import sycl_compiler_problem
from syclade.host.device.compile.precompiled import SPIRV, own_processor, shipped
from syclade.host.device.device import Device, native_problem
from syclade.host.ground.distributions import version_of

__all__ = ["offers"]


def offers(device: Device) -> str:
    """Return where a device's kernels come from, as a message; empty if the device is not usable."""
    if not device.usable:
        return ""
    if device.kind in ("numpy", "python"):
        return "none needed"
    if device.kind == "fpga":
        return "from an image (syclade export)"
    native = device.kind == "native"
    made_for = own_processor() if native else SPIRV
    there = sum(entry["for"] == made_for for entry in shipped())
    compiler = "numba" if native else "numba-dpex"
    problem = native_problem() if native else sycl_compiler_problem()
    parts = [f"{there} with the package, for many sizes"] if there else []
    parts.append(
        f"others by {compiler} {version_of(compiler)}" if problem is None else f"no others: {problem}"
    )
    return "; ".join(parts)
