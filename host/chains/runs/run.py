"""Chains of a plan, from the choice of a device to the outcome: implements `infer --method chain`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.opening import Opened, open_cached_image, open_image, open_runner
from syclade.host.chains.backends.placement import place_of_chains
from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.convergence import Rule
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.context import Found, RunContext
from syclade.host.chains.runs.long_run import run_long
from syclade.host.chains.state import ChainState, Sink, bytes_of_states
from syclade.host.device.choice import Several, split_devices
from syclade.host.device.compile.image import cached_images, store_image
from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from syclade.host.chains.backends.stages.opening import Separate

__all__ = ["run_plan"]

logger = logging.getLogger("syclade.devices")


def run_plan(
    plan: Plan,
    device: str | Device | Several,
    encoding: str,
    image: str | os.PathLike[str] | None,
    *,
    chains: int,
    until: int | Rule,
    slots: int | None,
    seed: int,
    context: RunContext,
    sampled: bool = False,
    sinks: Sequence[Sink] = (),
    starts: Callable[[int], ChainState] | None = None,
    separate: Separate | None = None,
) -> Found:
    """Run chains for a number of steps, or by a rule; see `infer` for the other arguments.

    Args:
        device: as for `infer`, or workers; or a device that the host has chosen, for fused stages without an
            image.
        until: steps of each chain, or the rule by which they stop.
        context: run context: progress callback, checkpointing, stop request.
        sampled: whether to store the chains' events.
        sinks: receive all events of this process.
        starts: (chain) -> its state before the first step; random trees by default.
        separate: run the stages as separate kernels, with these options; None runs them fused.

    Raises:
        DeviceError, OptionError: a requested device or option cannot be used; or there are more chains than
            memory.
        CheckpointError: the checkpoint to resume from belongs to another run, or is damaged.
    """
    require_memory(bytes_of_states(chains, plan.labels), f"{chains} chains", f"use fewer {flag_of('chains')}")
    staged = None
    steps = until if isinstance(until, int) else None
    opened: Opened[Slots]
    where = split_devices(device)
    if isinstance(where, (Device, Several)):
        opened = open_runner(where, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed)
    elif separate is not None:
        from syclade.host.chains.backends.stages.opening import open_stages

        staged, chosen, capacity = open_stages(where, plan, chains=chains, slots=slots, seed=seed)
        opened = Opened(staged, chosen, staged.encoding, capacity)
    elif (with_image := _open_with_image(plan, where, encoding, image, chains, slots, seed)) is not None:
        opened = with_image
    else:
        place = place_of_chains(plan, chains=chains, steps=steps) if where == "auto" else where
        opened = open_runner(place, encoding, plan, chains=chains, steps=steps, slots=slots, seed=seed)
    runner = opened.runner
    try:
        ran = run_long(
            runner, chains=chains, until=until, context=context, starts=starts, sampled=sampled, sinks=sinks
        )
        if separate is not None and staged is not None:
            separate.write_trace(staged)
    finally:
        runner.close()

    return Found(
        ran.outcome,
        ran.steps,
        opened.encoding.name,
        opened.slots,
        runner.work,
        interrupted=ran.stopped,
        pipeline=None if staged is None else staged.report(),
        samples=ran.samples,
    )


def _open_with_image(
    plan: Plan,
    device: str,
    encoding: str,
    path: str | os.PathLike[str] | None,
    chains: int,
    slots: int | None,
    seed: int,
) -> Opened[Runner] | None:
    """Open a runner with the kernel of a given or cached image; return None if there is no such image.

    Raises:
        DeviceError, OptionError: the given image cannot be used, or the runner does not open.
    """
    if path is None and (plan.score.shares or not cached_images()):
        return None
    if path is not None:
        found = open_image(path, device, encoding, plan)
    elif (cached := open_cached_image(device, encoding, plan)) is not None:
        found = cached
    else:
        return None
    image, chosen, made = found
    capacity = slots if slots is not None else default_slots(chosen, plan, made, chains)
    try:
        runner = make_runner(chosen, plan, made, capacity, seed, image)
    except DeviceMemoryError:
        raise
    except DeviceError as error:
        if path is not None or device != "auto":
            raise
        logger.warning("falling back from %s: %s", chosen.filter, error)
        return None
    store_image(image)
    return Opened(runner, chosen, made, capacity)
