"""What suits the target that has a device's kernels (kernels/target)."""

from __future__ import annotations

from syclade.host.devices.device import Device
from syclade.kernels.target.native.traits import TRAITS as NATIVE
from syclade.kernels.target.python import TRAITS as PYTHON
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

__all__ = ["traits_of"]

_TRAITS = {"native": NATIVE, "python": PYTHON}


def traits_of(device: Device) -> Traits:
    """The target's traits. The numpy fallback has none, and its encoding asks for none."""
    return _TRAITS.get(device.kind, SYCL)
