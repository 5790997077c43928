"""Runners of separate and overlapping stages and of images, for measurements."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.opening import open_image
from syclade.host.chains.backends.stages.opening import check_plan, device_with_image, open_stages
from syclade.host.chains.backends.stages.overlapping import open_overlapping
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan
from syclade.host.device.choice import choose_device
from syclade.host.device.device import Device
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from dpctl import SyclDevice, SyclQueue

__all__ = ["MANY_CHAINS", "device_of", "open_circuit"]

MANY_CHAINS = 2**31
"""Chains of a run that fills all slots which a device has by default."""


def device_of(
    device: str | SyclDevice | SyclQueue, stages: str = "fused", image: str | os.PathLike[str] | None = None
) -> Device:
    """Return the device of a measurement; `auto` with an image is of the kind that this is for.

    Args:
        device: as for `infer`; one device.
        stages, image: as for `measure`.

    Raises:
        DeviceError: there is no such device, or the image cannot be read or is for another one.
    """
    if image is None:
        return choose_device(device)
    wanted = device if isinstance(device, str) else choose_device(device).filter
    return device_with_image(image, wanted, separate=stages != "fused")[0]


def open_circuit(
    device: Device,
    plan: Plan,
    encoding: str,
    slots: int | None,
    seed: int,
    stages: str,
    image: str | os.PathLike[str] | None,
) -> tuple[Runner, int]:
    """Open a runner of separate or overlapping stages, or of an image, and return it with its slots.

    Args:
        device: as `device_of` returns it.
        plan: the parts of the chains.
        encoding: auto, or the name of an encoding.
        slots: number of chain states at once; None for the default.
        seed: seed of the random numbers.
        stages, image: as for `measure`; not both as by default.

    Raises:
        DeviceError: the device does not open, or the image does not fit.
        OptionError: the options do not go together.
    """
    if stages == "fused":
        assert image is not None
        found, chosen, made = open_image(image, device.filter, encoding, plan)
        count = default_slots(chosen, plan, made, MANY_CHAINS) if slots is None else slots
        return make_runner(chosen, plan, made, count, seed, found), count
    if encoding not in ("auto", AncestorEncoding.name):
        raise OptionError(f"{flag_of('stages')} {stages} runs the encoding ancestor", hint="leave it out")
    check_plan(plan)
    if stages == "separate":
        runner, _, count = open_stages(
            device.filter, plan, chains=MANY_CHAINS, slots=slots, seed=seed, image=image
        )
        return runner, count
    if stages != "overlapping" or image is not None:
        given = f"{flag_of('stages')} {stages}" + ("" if image is None else f" with {flag_of('image')}")
        raise OptionError(f"{given} cannot be measured", hint="images have fused or separate stages")
    runner_of_all, _, count = open_overlapping(
        device.filter, plan, chains=MANY_CHAINS, slots=slots, seed=seed
    )
    return runner_of_all, count
