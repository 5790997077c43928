"""Chains of a plan from device to outcome: what `infer --method chain` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syclade.host.backends import default_slots
from syclade.host.backends.opening import Opened, open_runner
from syclade.host.backends.tiered_runner import TieredRunner
from syclade.host.backends.tiers import STAGES, begin
from syclade.host.chains.convergence import StoppingRule
from syclade.host.chains.events import Sink
from syclade.host.chains.long_run import run_long
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainState
from syclade.host.running import Task

if TYPE_CHECKING:
    from syclade.host.backends.stages.options import Separate
    from syclade.host.chains.found import Found

__all__ = ["run_plan"]


def run_plan(
    plan: Plan,
    device: str,
    encoding: str,
    image: str | os.PathLike[str] | None,
    *,
    chains: int,
    steps: int | None,
    slots: int | None,
    seed: int,
    task: Task,
    sinks: Sequence[Sink] = (),
    starts: Callable[[int], ChainState] | None = None,
    separate: Separate | None = None,
) -> Found:
    """Run chains for so many steps, or until they agree; see `infer` for the arguments.

    Args:
        task: who is told, where the run is kept, whether it shall stop.
        sinks: get all events.
        starts: the state of a chain before its first step; random trees without.
        separate: run the stages as kernels of their own; fused without.

    Raises:
        DeviceError, OptionError: a request that cannot be met.
        CheckpointError: the run to go on with is another one, or damaged.
    """
    staged = None
    if separate is not None:
        from syclade.host.backends.stages.opening import open_stages

        staged, device_found, capacity = open_stages(device, plan, chains=chains, slots=slots, seed=seed)
        opened = Opened(TieredRunner(staged, STAGES), device_found, staged.encoding, capacity)
    elif image is None:
        opened = open_runner(device, encoding, plan, chains=chains, slots=slots, seed=seed)
    else:
        from syclade.host.compile.precompiled import open_image

        used, chosen, made = open_image(image, device, encoding, plan)
        capacity = slots if slots is not None else default_slots(chosen, plan, made, chains)
        opened = Opened(begin(chosen, plan, made, capacity, seed, used), chosen, made, capacity)
    runner = opened.runner
    until = StoppingRule() if steps is None else steps
    try:
        outcome, done = run_long(runner, chains=chains, until=until, task=task, starts=starts, sinks=sinks)
        if separate is not None and staged is not None:
            separate.write_trace(staged)
    finally:
        runner.close()
    from syclade.host.chains.found import Found  # not before the chains have begun: it takes time

    return Found(
        outcome,
        done,
        opened.device,
        opened.encoding.name,
        opened.slots,
        runner.tiers,
        interrupted=task.stop.wanted,
        pipeline=None if staged is None else staged.report(),
    )
