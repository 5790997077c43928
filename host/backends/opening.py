"""Opening of runners on the requested device; if `auto` chose a device that fails, on the next one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from syclade.host.backends import default_slots, make_runner
from syclade.host.backends.counting_runner import CountingRunner
from syclade.host.backends.kernel_choice import choose_kernel
from syclade.host.chains.plan import Plan
from syclade.host.common.errors import DeviceError, DeviceMemoryError
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import Device, own_devices
from syclade.host.encodings import Encoding, choose_encoding

__all__ = ["Opened", "open_first", "open_on", "open_runner"]

logger = logging.getLogger("syclade.devices")

T = TypeVar("T")


@dataclass(frozen=True)
class Opened:
    """An open runner and the choices made for it.

    Attributes:
        runner: the runner; the caller must close it.
        device: the chosen device. `CountingRunner.work` reports which device does the steps.
        encoding: how trees are stored in the device's memory.
        slots: number of chain states that the runner holds at once.
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
    """Open a runner on the requested device.

    Args:
        wanted: as for `choose_device`.
        encoding: as for `choose_encoding`.
        plan: the parts of the chains.
        chains: number of chains of the run.
        steps: steps of each chain; None if the chains run until they agree.
        slots: number of chain states at once; None for the default of the device.
        seed: seed of the random numbers.

    Raises:
        DeviceError: the explicitly requested device cannot be used, no device opens, or there is too little
            memory for the slots.
        OptionError: the encoding cannot hold the problem.
    """
    explicit = wanted != "auto"
    return open_first(
        choose_device(wanted),
        lambda device: open_on(device, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed),
        explicit=explicit,
    )


def open_first(device: Device, opener: Callable[[Device], T], *, explicit: bool) -> T:
    """Open something on a device; if `auto` chose a device that fails, on the next one.

    A device that passed its test may still fail here: a missing or broken compiler is detected only when
    there is something to compile.

    Args:
        device: the first device to try.
        opener: opens something on a device.
        explicit: whether the user requested this device, so that no other device is tried.

    Raises:
        DeviceError: no device opens, or there is too little memory.
    """
    others = [one for one in own_devices() if one.usable]
    while True:
        try:
            return opener(device)
        except DeviceMemoryError:
            raise  # use fewer slots instead of another device
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
    """Open a runner on a device that is already chosen; see `open_runner`."""
    total = None if steps is None else chains * steps
    made, kernel = choose_kernel(device, plan, choose_encoding(encoding, device, plan.problem), total)
    count = slots if slots is not None else default_slots(device, plan, made, chains)
    return Opened(CountingRunner(make_runner(device, plan, made, count, seed), kernel), device, made, count)
