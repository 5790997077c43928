"""What a device is, and those that need no SYCL."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from syclade.host.compile.machine_code import native_problem
from syclade.host.devices.cores import usable_cores
from syclade.host.distributions import version_of

__all__ = ["KINDS", "NUMPY", "PYTHON", "Device", "native_device", "own_devices"]

KINDS = ("cpu", "fpga-emu", "fpga", "gpu", "native", "python", "numpy")


@dataclass(frozen=True)
class Device:
    """One place where chains can run.

    Attributes:
        filter: dpctl filter string, such as `opencl:cpu:0`; `native` or `numpy`.
        name: as the driver gives it.
        kind: cpu, fpga-emu, fpga, gpu, other, native or numpy.
        units: number of compute units.
        reason: why it cannot be used; None if it can.
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
        """Whether chains can run here."""
        return self.reason is None

    @property
    def is_sycl(self) -> bool:
        """Whether it runs kernels in SPIR-V that its driver translates."""
        return self.kind not in ("native", "python", "numpy", "fpga")

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "usable": self.usable}


NUMPY = Device("numpy", "numpy fallback", "numpy", 1)

PYTHON = Device("python", "kernels run by Python itself, for debugging", "python", 1)
"""Taken when asked for, and not listed: nobody wants it by accident."""


def native_device() -> Device:
    """This processor, by numba."""
    reason = native_problem()
    driver = "" if reason else f"numba {version_of('numba')}"
    return Device("native", "this processor, by numba", "native", usable_cores(), reason, driver)


def own_devices() -> list[Device]:
    """Those that need no SYCL."""
    return [native_device(), NUMPY]
