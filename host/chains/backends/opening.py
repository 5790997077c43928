"""Opening of runners on the requested device, with the kernel that suits the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.kernel_choice import choose_kernel
from syclade.host.chains.backends.slots import Slots
from syclade.host.chains.encodings import Encoding, choose_encoding
from syclade.host.chains.plan import Plan
from syclade.host.device.choice import Several, choose_device, open_first, where_of
from syclade.host.device.device import Device

__all__ = ["Opened", "open_on", "open_one", "open_runner"]


R = TypeVar("R", bound=Slots, covariant=True)


@dataclass(frozen=True)
class Opened(Generic[R]):
    """An open runner and the choices made for it.

    Attributes:
        runner: the runner; the caller must close it.
        device: the chosen device; None for several. `Slots.work` reports which device does the steps.
        encoding: how trees are stored in the device's memory.
        slots: number of chain states that the runner holds at once.
    """

    runner: R
    device: Device | None
    encoding: Encoding
    slots: int


def open_runner(
    wanted: str | Device | Several,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened[Slots]:
    """Open a runner on the requested device.

    Args:
        wanted: as for `choose_device`; or a device, which others replace if it does not open; or several
            places, which share the chains.
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
    where = where_of(wanted)
    if isinstance(where, Several):
        from syclade.host.chains.backends.shared.runner import open_shared

        return open_shared(where, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed)
    return open_one(where, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed)


def open_one(
    wanted: str | Device,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened[Runner]:
    """Open a runner on one device; see `open_runner`."""
    explicit = not isinstance(wanted, Device) and wanted != "auto"
    return open_first(
        wanted if isinstance(wanted, Device) else choose_device(wanted),
        lambda device: open_on(device, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed),
        explicit=explicit,
    )


def open_on(
    device: Device,
    encoding: str,
    plan: Plan,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
) -> Opened[Runner]:
    """Open a runner on a device that is already chosen; see `open_runner`."""
    total = None if steps is None else chains * steps
    chosen = choose_encoding(encoding, device, plan.problem, plan.space.encoding, shares=plan.score.shares)
    made, kernel = choose_kernel(device, plan, chosen, total)
    count = slots if slots is not None else default_slots(device, plan, made, chains)
    return Opened(make_runner(device, plan, made, count, seed, kernel=kernel), device, made, count)
