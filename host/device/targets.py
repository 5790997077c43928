"""Traits of the target (kernels/target) that compiles a device's kernels."""

from __future__ import annotations

from syclade.host.device.device import Device
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.python import TRAITS as PYTHON
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

__all__ = ["traits_of"]

NUMPY = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)

_TRAITS = {"native": NATIVE, "python": PYTHON, "numpy": NUMPY}


def traits_of(device: Device) -> Traits:
    """Return the traits of a device's target. The numpy fallback has one lane, so it needs no padding."""
    return _TRAITS.get(device.kind, SYCL)
