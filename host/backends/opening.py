"""Opens a runner on the device that was asked for; where `auto` took one that fails, on the next."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from syclade.host.backends import default_slots, make_runner
from syclade.host.backends.counting_runner import CountingRunner
from syclade.host.backends.kernel_choice import choose_kernel
from syclade.host.chains.plan import Plan
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import Device, own_devices
from syclade.host.encodings import Encoding, choose_encoding
from syclade.host.errors import DeviceError, DeviceMemoryError

__all__ = ["Opened", "open_first", "open_on", "open_runner"]

logger = logging.getLogger("syclade.devices")

T = TypeVar("T")


@dataclass(frozen=True)
class Opened:
    """A runner and what was chosen for it.

    Attributes:
        runner: for its user to close.
        device: that was chosen; the runner knows what does the steps (`CountingRunner.work`).
        encoding: how trees stand in its memory.
        slots: chain states at once.
    """

    runner: CountingRunner
    device: Device
    encoding: Encoding
    slots: int


def open_runner(
    wanted: str,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened:
    """Open a runner on the device that a request means.

    Args:
        wanted: as for `choose_device`.
        encoding: as for `choose_encoding`.
        plan: what the chains are put together from.
        chains: how many there will be.
        steps: of each chain; None if they run until they agree.
        slots: chain states at once; None chooses.
        seed: of the random numbers.

    Raises:
        DeviceError: an explicit request cannot be met, or there is too little memory for the slots.
        OptionError: the encoding cannot hold the problem.
    """
    explicit = wanted != "auto"
    return open_first(
        choose_device(wanted),
        lambda device: open_on(device, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed),
        explicit=explicit,
    )


def open_first(device: Device, opener: Callable[[Device], T], *, explicit: bool) -> T:
    """Open something on a device, or on the next one where `auto` took one that fails.

    A device that passes its trial may still fail now: the compiler may be missing or broken, which is found
    out when there is something to compile.

    Args:
        device: the first to try.
        opener: what to do with a device.
        explicit: whether the device was asked for, so that no other will do.

    Raises:
        DeviceError: no device opens, or there is too little memory.
    """
    others = [one for one in own_devices() if one.usable]
    while True:
        try:
            return opener(device)
        except DeviceMemoryError:
            raise  # fewer slots would do, on this device as on any
        except DeviceError as error:
            others = others[others.index(device) + 1 :] if device in others else others
            if explicit or not others:
                raise
            slower = ", which is slower" if others[0].kind == "numpy" else ""
            logger.warning("falling back to %s%s: %s: %s", others[0].filter, slower, device.filter, error)
            device = others[0]


def open_on(
    device: Device,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened:
    """Open a runner on a device that was chosen already; see `open_runner`."""
    total = None if steps is None else chains * steps
    made, kernel = choose_kernel(device, plan, choose_encoding(encoding, device, plan.problem), total)
    count = slots if slots is not None else default_slots(device, plan, made, chains)
    return Opened(CountingRunner(make_runner(device, plan, made, count, seed), kernel), device, made, count)
