"""Opens a runner on the device that was asked for; where `auto` took one that fails, on the next."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from syclade.host.backends import default_slots
from syclade.host.backends.tiered_runner import TieredRunner
from syclade.host.backends.tiers import begin
from syclade.host.chains.plan import Plan
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import Device, own_devices
from syclade.host.encodings import Encoding, choose_encoding
from syclade.host.errors import DeviceError, DeviceMemoryError

__all__ = ["Opened", "open_on", "open_runner"]

logger = logging.getLogger("syclade.devices")


@dataclass(frozen=True)
class Opened:
    """A runner and what was chosen for it.

    Attributes:
        runner: for its user to close.
        device: that it runs on.
        encoding: how trees stand in its memory.
        slots: chain states at once.
    """

    runner: TieredRunner
    device: Device
    encoding: Encoding
    slots: int


def open_runner(
    wanted: str, encoding: str, plan: Plan, *, chains: int, slots: int | None, seed: int
) -> Opened:
    """A runner on the device that a request means.

    A device that passes its trial may still fail now: the compiler may be missing or broken, which is found
    out when there is something to compile.

    Args:
        wanted: as for `choose_device`.
        encoding: as for `choose_encoding`.
        plan: what the chains are put together from.
        chains: how many there will be.
        slots: chain states at once; None chooses.
        seed: of the random numbers.

    Raises:
        DeviceError: an explicit request cannot be met, or there is too little memory for the slots.
        OptionError: the encoding cannot hold the problem.
    """
    device = choose_device(wanted)
    others = [one for one in own_devices() if one.usable]
    while True:
        try:
            return open_on(device, encoding, plan, chains, slots, seed, needed=wanted != "auto")
        except DeviceMemoryError:
            raise  # fewer slots would do, on this device as on any
        except DeviceError as error:
            others = others[others.index(device) + 1 :] if device in others else others
            if wanted != "auto" or not others:
                raise
            slower = ", which is slower" if others[0].kind == "numpy" else ""
            logger.warning("falling back to %s%s: %s: %s", others[0].filter, slower, device.filter, error)
            device = others[0]


def open_on(
    device: Device,
    encoding: str,
    plan: Plan,
    chains: int,
    slots: int | None,
    seed: int,
    *,
    needed: bool = True,
) -> Opened:
    """A runner on a device that was chosen already; see `open_runner`, and for `needed` `begin`."""
    made = choose_encoding(encoding, device, plan.problem)
    count = slots if slots is not None else default_slots(device, plan, made, chains)
    return Opened(begin(device, plan, made, count, seed, needed=needed), device, made, count)
