"""Engines: named arrays for slots on one device, and launches of kernels on these slots.

An engine does not know what its kernels compute: chains and searches use the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from syclade.host.device.device import Device
from syclade.host.device.engines.engine import Allocation, Engine
from syclade.host.device.engines.local import NativeEngine, PythonEngine
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.python import TRAITS as PYTHON
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

if TYPE_CHECKING:
    from syclade.host.device.compile.image import Image
    from syclade.host.device.engines.cuda import CudaEngine
    from syclade.host.device.engines.sycl import SyclEngine

    KernelEngine: TypeAlias = CudaEngine | NativeEngine | PythonEngine | SyclEngine

__all__ = ["Allocation", "Engine", "open_engine", "traits_of"]


def open_engine(
    device: Device,
    allocation: Allocation,
    *,
    images: Mapping[str, Image] = MappingProxyType({}),
    timed: bool = False,
) -> KernelEngine:
    """Open an engine that runs kernels on a device; for code in numpy, use a `NumpyEngine`.

    Args:
        device: a usable device, except `numpy`.
        allocation: the arrays to allocate.
        images: precompiled kernels for this device, by name; the engine loads them instead of compiling.
        timed: whether the device shall measure the times of launches (`Engine.times`).

    Raises:
        DeviceError: the device does not open, or has too little memory.
    """
    if device.kind == "native":
        return NativeEngine(device, allocation)
    if device.kind == "python":
        return PythonEngine(device, allocation)
    if device.kind == "cuda":
        from syclade.host.device.engines.cuda import CudaEngine

        return CudaEngine(device, allocation)
    from syclade.host.device.engines.sycl import SyclEngine

    return SyclEngine(device, allocation, images=images, timed=timed)


_NUMPY = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)

_TRAITS = {"cuda": CUDA, "native": NATIVE, "python": PYTHON, "numpy": _NUMPY}


def traits_of(device: Device) -> Traits:
    """Return the traits of a device's target. The numpy fallback has one lane, so it needs no padding."""
    return _TRAITS.get(device.kind, SYCL)
