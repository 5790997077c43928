"""Engines: named arrays for slots on one device, and launches of kernels on these slots.

An engine does not know what its kernels compute: chains and searches use the same ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from syclade.host.device.device import Device
from syclade.host.device.engines.engine import Allocation, Engine

if TYPE_CHECKING:
    from syclade.host.device.compile.image import Image
    from syclade.host.device.engines.native import NativeEngine
    from syclade.host.device.engines.python import PythonEngine
    from syclade.host.device.engines.sycl import SyclEngine

    KernelEngine: TypeAlias = NativeEngine | PythonEngine | SyclEngine

__all__ = ["Allocation", "Engine", "open_engine"]


def open_engine(
    device: Device,
    allocation: Allocation,
    *,
    image: Image | None = None,
    timed: bool = False,
) -> KernelEngine:
    """Open an engine that runs kernels on a device; for code in numpy, use a `NumpyEngine`.

    Args:
        device: a usable device, except `numpy`.
        allocation: the arrays to allocate.
        image: a precompiled kernel for this device; the engine loads it instead of compiling one.
        timed: whether the device shall measure the times of launches (`Engine.times`).

    Raises:
        DeviceError: the device does not open, or has too little memory.
    """
    # Only the module that the device needs is imported.
    if device.kind == "native":
        from syclade.host.device.engines.native import NativeEngine

        return NativeEngine(device, allocation)
    if device.kind == "python":
        from syclade.host.device.engines.python import PythonEngine

        return PythonEngine(device, allocation)
    from syclade.host.device.engines.sycl import SyclEngine

    return SyclEngine(device, allocation, image=image, timed=timed)
