"""Devices: their description, and the devices that do not need SYCL."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from syclade.host.device.cores import usable_cores
from syclade.host.ground.packages import install_command, version_of

__all__ = ["KINDS", "NUMPY", "PYTHON", "Device", "is_gpu", "native_device", "native_problem", "own_devices"]

KINDS = ("cpu", "fpga-emu", "fpga", "gpu", "cuda", "native", "python", "numpy")


def native_problem() -> str | None:
    """Return why kernels cannot be compiled for this processor; None if they can."""
    for name in ("numba", "llvmlite"):
        if version_of(name) is None:
            return f"{name} is not installed ({install_command()})"
    return None


@dataclass(frozen=True)
class Device:
    """A device that chains can run on.

    Attributes:
        filter: dpctl filter string, such as `opencl:cpu:0`; or `cuda:0`, `native`, `python` or `numpy`.
        name: name that the driver reports.
        kind: cpu, fpga-emu, fpga, gpu, cuda, other, native, python or numpy.
        units: number of compute units.
        reason: why the device cannot be used; None if it can.
        driver: version of the driver.
    """

    filter: str
    name: str
    kind: str
    units: int
    reason: str | None = None
    driver: str = ""

    @property
    def usable(self) -> bool:
        """Return whether chains can run on the device."""
        return self.reason is None

    @property
    def takes_spirv(self) -> bool:
        """Return whether the device runs SPIR-V kernels, which its driver translates."""
        return self.kind not in ("cuda", "native", "python", "numpy", "fpga")

    def as_dict(self) -> dict[str, object]:
        """Return the attributes and `usable` as plain values for JSON."""
        return {**asdict(self), "usable": self.usable}


NUMPY = Device("numpy", "numpy fallback", "numpy", 1)

PYTHON = Device("python", "kernels run by Python itself, for debugging", "python", 1)
"""Used only on explicit request, and not listed, so that nobody uses it by accident."""


def is_gpu(name: str) -> bool:
    """Return whether a name of a device is that of an NVIDIA GPU: `cuda`, or `cuda:` and a number."""
    return re.fullmatch(r"cuda(:\d+)?", name) is not None


def native_device() -> Device:
    """Return this processor as a device, with kernels by numba."""
    reason = native_problem()
    driver = "" if reason else f"numba {version_of('numba')}"
    return Device("native", "this processor, by numba", "native", usable_cores(), reason, driver)


def own_devices() -> list[Device]:
    """Return the listed devices that do not need SYCL."""
    return [native_device(), NUMPY]
