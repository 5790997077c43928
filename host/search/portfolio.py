"""The most likely tree: searches from several kinds of start, among them where short chains have come to.

Chains cross valleys that no climb does, and climbs reach tops that no chain stays on (docs/search.md).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import numpy as np

from syclade.host.backends.opening import Opened, open_on
from syclade.host.chains.found import Found, Search
from syclade.host.chains.pipeline import Outcome, Progress, state_at
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import no_tallies
from syclade.host.devices.choice import choose_device
from syclade.host.devices.cores import usable_cores
from syclade.host.devices.device import Device, own_devices
from syclade.host.errors import DeviceError, DeviceMemoryError
from syclade.host.search.chain_starts import CHAIN_STEPS, run_short_chains
from syclade.host.search.policy import BY_CHAIN, SearchPolicy, policy_for
from syclade.host.search.problem import SearchProblem, make_search_problem
from syclade.host.search.runner import SearchRunner
from syclade.host.search.runners import begin_search
from syclade.host.search.search import SearchProgress, run_search

__all__ = ["find"]

logger = logging.getLogger("syclade.search")

Report = Callable[[Progress], None]


def find(plan: Plan, wanted: str, encoding: str, *, slots: int | None, seed: int, report: Report) -> Found:
    """Look for the most likely tree of a plan's problem.

    Args:
        plan: its problem, and the chains that some searches start from.
        wanted: as for `choose_device`.
        encoding: of the chains, as for `choose_encoding`.
        slots: searches, and chains, at once; None chooses.
        seed: of the random numbers.
        report: called now and then.

    Raises:
        DeviceError: an explicit request cannot be met.
    """
    begun = time.perf_counter()
    problem = make_search_problem(plan.problem)
    policy = policy_for(problem.mutations, problem.columns)
    count = slots if slots is not None else min(len(policy.starts), 2 * usable_cores())
    device, runner = _open(wanted, problem, count, seed, policy)
    chains = policy.starts.count(BY_CHAIN)

    def told(steps: int, best: int) -> None:
        report(Progress(steps, None, chains * CHAIN_STEPS, best, time.perf_counter() - begun))

    def searched(state: SearchProgress) -> None:
        nats = problem.to_nats(state.best_score) - plan.problem.base
        told(chains * CHAIN_STEPS, round(nats * 2.0**plan.problem.scale_bits))

    try:
        opened, short = None, []
        if chains:
            opened = open_on(device, encoding, plan, chains, None, seed)
            try:
                best = opened.runner.best_scores
                short = run_short_chains(opened.runner, chains, lambda steps: told(steps, int(best().max())))
            finally:
                opened.runner.close()
        search = run_search(runner, policy, [state.best_parents for state, _ in short], searched)
    finally:
        runner.close()
    tallies = sum((info.tallies for _, info in short), no_tallies(len(plan.kinds)))
    outcome = Outcome(
        best=state_at(plan, search.best.best_parents, 0),
        best_scores=np.array([state.best_score for state, _ in short], dtype=np.int64),
        tallies=tallies,
        steps=chains * CHAIN_STEPS,
        seconds=time.perf_counter() - begun,
        converged=search.agreed,
    )
    searches = tuple(
        Search(start, problem.to_nats(score))
        for start, score in zip(search.starts, search.scores, strict=True)
    )
    steps = CHAIN_STEPS if chains else 0
    return Found(
        outcome, steps, device, _encoding_of(opened), count, _tiers_of(opened), searches, runner.tier
    )


def _open(
    wanted: str, problem: SearchProblem, slots: int, seed: int, policy: SearchPolicy
) -> tuple[Device, SearchRunner]:
    """The device, and a runner on it; where auto took one that fails, on the next."""
    device = choose_device(wanted)
    others = [one for one in own_devices() if one.usable and one != device]
    while True:
        try:
            return device, begin_search(device, problem, slots, seed, by_columns=policy.by_columns)
        except DeviceMemoryError:
            raise
        except DeviceError as error:
            if wanted != "auto" or not others:
                raise
            logger.warning("falling back to %s: %s: %s", others[0].filter, device.filter, error)
            device = others.pop(0)


def _encoding_of(opened: Opened | None) -> str:
    return "" if opened is None else opened.encoding.name


def _tiers_of(opened: Opened | None) -> dict[str, int]:
    return {} if opened is None else dict(opened.runner.tiers)
