"""Chains of a plan from device to outcome: what `infer --method chain` does."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from syclade.host.backends import default_slots
from syclade.host.backends.opening import Opened, open_runner
from syclade.host.backends.tiers import begin
from syclade.host.chains.convergence import StoppingRule, run_until_converged
from syclade.host.chains.found import Found
from syclade.host.chains.pipeline import Progress, run_chains
from syclade.host.chains.plan import Plan
from syclade.host.compile.precompiled import open_image

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
    report: Callable[[Progress], None],
) -> Found:
    """Run chains for so many steps, or until they agree; see `infer` for the arguments.

    Raises:
        DeviceError, OptionError: a request that cannot be met.
    """
    if image is None:
        opened = open_runner(device, encoding, plan, chains=chains, slots=slots, seed=seed)
    else:
        used, chosen, made = open_image(image, device, encoding, plan)
        capacity = slots if slots is not None else default_slots(chosen, plan, made, chains)
        opened = Opened(begin(chosen, plan, made, capacity, seed, used), chosen, made, capacity)
    runner, rule = opened.runner, StoppingRule()
    try:
        if steps is None:
            outcome, steps = run_until_converged(runner, chains=chains, rule=rule, progress=report)
        else:
            outcome = run_chains(runner, chains=chains, steps=steps, progress=report)
            outcome = replace(outcome, converged=rule.agree(outcome.best_scores))
    finally:
        runner.close()
    return Found(outcome, steps, opened.device, opened.encoding.name, opened.slots, runner.tiers)
