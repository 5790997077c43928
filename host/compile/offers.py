"""What a device's kernels come from: the package, and a compiler if there is one."""

from __future__ import annotations

from importlib import metadata

from syclade.host.compile.ahead import can_compile
from syclade.host.compile.shipped import SPIRV, own_processor, shipped
from syclade.host.devices.device import Device

__all__ = ["offers"]


def offers(device: Device) -> str:
    """In words, for users."""
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
    parts = [f"{there} with the package, for many sizes"] if there else []
    if can_compile(device):
        parts.append(f"others by {compiler} {metadata.version(compiler)}")
    return "; ".join(parts) or f"none: {compiler} is not installed"
