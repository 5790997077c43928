"""Where the kernels of calling run: alignment qualities and tests on a device, all else on this processor."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.host.device.choice import choose_device
from syclade.host.device.device import Device, native_device
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of

__all__ = ["Place", "here", "place_of"]


@dataclass(frozen=True)
class Place:
    """A device, and how a thread uses it.

    Attributes:
        device: the device of alignment qualities and tests.
        slots: how many parts each thread divides its reads into, which the device computes at the same time.
    """

    device: Device
    slots: int = 1


def here() -> Place:
    """Return this processor, where each thread computes its own reads."""
    return Place(native_device())


def place_of(wanted: str, threads: int) -> Place:
    """Return the place that was requested; the records do not depend on it.

    Args:
        wanted: as for `choose_device`; `auto` is this processor, which takes reads apart and counts in any
            case.
        threads: number of threads, which share the device.

    Raises:
        DeviceError: the device cannot be used.
    """
    if wanted == "auto":
        return here()
    device = choose_device(wanted)
    if device.kind == "fpga":
        raise DeviceError(
            f"{device.name} runs images only, and there is none of the kernels of calling",
            hint=f"{flag_of('device', 'fpga-emu')} runs them as an FPGA would",
        )
    return Place(device, -(-device.units // threads) if device.takes_spirv else 1)
