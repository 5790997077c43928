"""What suits the target that has a device's kernels (kernels/target)."""

from __future__ import annotations

from syclade.host.devices.device import Device
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.python import TRAITS as PYTHON
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

__all__ = ["traits_of"]

NUMPY = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)

_TRAITS = {"native": NATIVE, "python": PYTHON, "numpy": NUMPY}


def traits_of(device: Device) -> Traits:
    """The target's traits. The numpy fallback has a single lane, so it pads nothing."""
    return _TRAITS.get(device.kind, SYCL)
