"""Chains of a plan, from the choice of a device to the outcome: implements `infer --method chain`.

If the device is left open, chains and searches run where they end first. A GPU advances thousands of chains
at once, each at about the speed of a sixtieth of a core, or of a hundredth without numba-cuda
(docs/performance.md). So a run of few chains ends sooner on this processor. A search of a large matrix ends
sooner on a GPU, one of a small matrix on this processor. The bits are the same.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.opening import (
    ChainsToOpen,
    Opened,
    estimated_seconds,
    fast_start_device,
    has_gpu_kernel,
    open_cached_image,
    open_image,
    open_runner,
)
from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.convergence import Rule
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.context import Found, RunContext
from syclade.host.chains.runs.long_run import run_long
from syclade.host.chains.state import ChainState, Sink, bytes_of_states
from syclade.host.device.choice import Devices, Several, choose_device, split_devices
from syclade.host.device.compile.image import cached_images, store_image
from syclade.host.device.compile.machine_code import ptx_compiler_problem
from syclade.host.device.device import Device, is_gpu, native_device, usable_cores
from syclade.host.device.engines.cuda import SLOTS_OF_UNIT
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from syclade.host.chains.backends.stages.opening import PipelineRunner, Separate

__all__ = [
    "AUTO_ENTRIES",
    "CHAINS_A_CORE",
    "GENERAL_CHAINS_A_CORE",
    "GPU_START_SECONDS",
    "SEARCH_ENTRIES",
    "place_of_chains",
    "place_of_few",
    "place_of_searches",
    "run_plan",
]


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
    staged: PipelineRunner | None = None
    steps = until if isinstance(until, int) else None
    opened: Opened[Slots]
    to_open = ChainsToOpen(plan, encoding, chains, steps, slots, seed)
    where = split_devices(device)
    if isinstance(where, (Device, Several)):
        opened = open_runner(where, to_open)
    elif separate is not None:
        staged, chosen, capacity = _open_separate(separate, where, plan, image, chains, slots, seed)
        opened = Opened(staged, chosen, staged.encoding, capacity)
    elif (with_image := _open_with_image(plan, where, encoding, image, chains, slots, seed)) is not None:
        opened = with_image
    else:
        place = place_of_chains(plan, chains=chains, steps=steps) if where == "auto" else where
        opened = open_runner(place, to_open)
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


def _open_separate(
    separate: Separate,
    device: str,
    plan: Plan,
    image: str | os.PathLike[str] | None,
    chains: int,
    slots: int | None,
    seed: int,
) -> tuple[PipelineRunner, Device, int]:
    """Open a runner of separate stages, whose code is only loaded if needed."""
    if separate.overlapping:
        from syclade.host.chains.backends.stages.overlapping import open_overlapping

        return open_overlapping(device, plan, chains=chains, slots=slots, seed=seed)
    from syclade.host.chains.backends.stages.opening import open_stages

    return open_stages(device, plan, chains=chains, slots=slots, seed=seed, image=image)


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


CHAINS_A_CORE = 60
"""Chains on a GPU that are together as fast as one core of this processor."""

GENERAL_CHAINS_A_CORE = 100
"""The same with general kernels, which are all that a GPU has without numba-cuda."""

GPU_START_SECONDS = 20.0
"""Runs that take less time on this processor leave a GPU alone: it takes up to ten seconds to start."""


SEARCH_ENTRIES = 4e5
"""Entries of a matrix above which a requested GPU runs the searches: it is faster than the cores there.

No search starts from a short chain there (`search/policy.py`).
"""

AUTO_ENTRIES = 4e6
"""Entries above which `auto` takes a GPU for searches, which last long enough to pay for its start."""


def place_of_searches(wanted: str | Device | Several, entries: int) -> str | Device | Several:
    """Return where searches run: on a requested GPU for large matrices, by `auto` for still larger ones.

    Args:
        wanted: as for `place_of_few`.
        entries: mutations times distinct columns.
    """
    if wanted == "auto":
        gpus = _gpus() if entries > AUTO_ENTRIES else []
        if not gpus:
            return wanted
        logger.info("searches run on %s (%s): they are faster there", gpus[0].filter, gpus[0].name)
        return gpus[0]
    return wanted if entries > SEARCH_ENTRIES else place_of_few(wanted)


def place_of_few(wanted: str | Device | Several, plan: Plan | None = None) -> str | Device | Several:
    """Return where searches, or a few chains, run: not on GPUs if this processor can take them.

    Args:
        wanted: the requested place, as for `choose_device`; or several.
        plan: the parts of chains; None for searches, which choose for `auto` by themselves.

    Raises:
        DeviceError: a requested GPU cannot be used.
    """
    if wanted == "auto":
        return (None if plan is None else fast_start_device(plan)) or wanted
    where = split_devices(wanted)
    others = _without_gpus(where)
    if others == where or not native_device().usable:
        return wanted
    if isinstance(where, str):
        choose_device(where)  # one that is not there is an error all the same
    if others is None:
        chosen = native_device()
        logger.info("%s (%s) is faster than a GPU for %s", chosen.filter, chosen.name, _work_of(plan))
        return chosen
    return others


def _work_of(plan: Plan | None) -> str:
    return "searches" if plan is None else "a few chains"


def _without_gpus(where: str | Device | Several) -> str | Device | Several | None:
    """Return the places without GPUs; None if all of them are."""
    if isinstance(where, Device):
        return None if where.kind == "cuda" else where
    if isinstance(where, str):
        return None if is_gpu(where) else where
    if not isinstance(where, Devices):
        return where
    names = [name for name in where.names if not is_gpu(name)]
    if len(names) == len(where.names):
        return where
    return Devices(names) if len(names) > 1 else (names[0] if names else None)


def _gpus() -> list[Device]:
    """Return the NVIDIA GPUs that can run precompiled kernels."""
    from syclade.host.device.cuda import listed_gpus, seems_usable

    return [one for one in listed_gpus() if one.usable] if seems_usable() else []


def place_of_chains(plan: Plan, *, chains: int, steps: int | None) -> Device:
    """Return the device of chains for `auto`: a GPU if the run is long and has enough chains for one.

    Args:
        plan: the parts of the chains.
        chains: their number.
        steps: steps of each; None if they run until they agree.
    """
    best = choose_device()
    seconds = estimated_seconds(best, plan, None if steps is None else chains * steps)
    of_a_core = CHAINS_A_CORE if ptx_compiler_problem() is None else GENERAL_CHAINS_A_CORE
    fewest = of_a_core * usable_cores()
    if chains <= fewest or seconds is None or seconds < GPU_START_SECONDS:
        return best
    gpus = [one for one in _gpus() if has_gpu_kernel(one, plan)]
    if not gpus or min(chains, SLOTS_OF_UNIT * gpus[0].units) <= fewest:
        return best
    logger.info("device %s (%s): %d chains are faster there", gpus[0].filter, gpus[0].name, chains)
    return gpus[0]
