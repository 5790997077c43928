"""Search for the most likely tree from several kinds of start, including the best trees of short chains.

Chains leave local optima that no climb leaves, and climbs reach optima where no chain stays (docs/search.md).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner
from syclade.host.chains.backends.opening import ChainsToOpen, open_on
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.clock import Progress, StepRate
from syclade.host.chains.runs.context import Found, RunContext, Search, ShortChains
from syclade.host.chains.runs.pipeline import Outcome, initial_state, state_at
from syclade.host.chains.runs.run import place_of_few, place_of_searches
from syclade.host.chains.search.kernel import NO_SCORE, fresh_state, state_from
from syclade.host.chains.search.policy import BY_CHAIN, SearchPolicy, policy_for
from syclade.host.chains.search.problem import SearchProblem, make_search_problem
from syclade.host.chains.search.runner import device_for_search, make_search_runner
from syclade.host.chains.search.search import (
    Searches,
    SearchesCheckpoint,
    SearchOutcome,
    SearchProgress,
    resumed_searches,
    run_search,
    stages_left,
    write_searches,
)
from syclade.host.chains.state import ChainInfo, ChainState, no_tallies
from syclade.host.device.choice import Devices, Several, choose_device, first_of, open_first, split_devices
from syclade.host.device.device import Device, is_gpu, usable_cores
from syclade.host.device.work import WorkDone
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.signals import Stopped

__all__ = ["find"]

logger = logging.getLogger("syclade.devices")

_Opened: TypeAlias = tuple[Device, bool, Searches]
"""A device, whether it was requested, and a runner of searches on it."""


def find(
    plan: Plan,
    wanted: str | Several,
    encoding: str,
    *,
    slots: int | None,
    seed: int,
    context: RunContext,
    most_rounds: int | None = None,
) -> Found:
    """Search for the most likely tree of a plan's problem.

    Args:
        plan: the problem, and the chains that some searches start from.
        wanted: as for `choose_device`; or several places, which share the searches.
        encoding: encoding of the chains, as for `choose_encoding`.
        slots: number of searches that run at once; None for a suitable number.
        seed: seed of the random numbers.
        context: run context; a checkpoint is written after each phase.
        most_rounds: rounds after which the searches end even if they do not agree; None for all that the
            sizes of the matrix allow.

    Raises:
        DeviceError: an explicit request cannot be met.
        CheckpointError: the checkpoint to resume from is damaged, or belongs to another run.
    """
    begun = time.perf_counter()
    problem = make_search_problem(plan.problem)
    same = plan.problem.rate_tables.model.rates.same
    policy = policy_for(problem.mutations, problem.columns, same=same, unit=problem.unit)
    policy = replace(policy, rounds=policy.rounds[:most_rounds])
    current = resumed_searches(context.checkpoints, policy, problem, len(plan.kinds))
    stages = stages_left(policy, None if current is None else current.searches)
    (device, explicit, runner), count = _open(wanted, problem, policy, slots, seed, stages)
    reporter = _Reporter(plan, problem, policy, context)
    try:
        trees: list[NDArray[np.int32]] = []
        work: tuple[WorkDone, ...] = ()
        if current is None:
            short, chains, work = _run_short(plan, device, encoding, seed, reporter, explicit=explicit)
            trees = [state.best_parents for state in short]
        else:
            chains = current.chains
            write_searches(context.checkpoints, current)  # there may be no phase left
        if context.stop.wanted and trees:  # stopped while the chains ran
            search = _only_chains(policy, problem.mutations, short)
        else:
            search = run_search(
                runner,
                policy,
                trees,
                reporter.searched,
                resumed=None if current is None else current.searches,
                between=lambda searches: write_searches(
                    context.checkpoints, SearchesCheckpoint(searches, chains)
                ),
            )
        work += runner.work
    finally:
        runner.close()
    outcome = Outcome(
        best=state_at(plan, search.best.best_parents, 0),
        best_scores=chains.best_scores,
        tallies=chains.tallies,
        steps=len(chains.best_scores) * policy.chain_steps,
        seconds=time.perf_counter() - begun,
        converged=search.agreed,
    )
    return Found(
        outcome,
        policy.chain_steps if len(chains.best_scores) else 0,
        chains.encoding,
        count,
        work,
        tuple(
            Search(start, problem.to_nats(score))
            for start, score in zip(search.starts, search.scores, strict=True)
            if score != NO_SCORE
        ),
        search.stopped,
        search.trees,
    )


def _open(
    wanted: str | Several,
    problem: SearchProblem,
    policy: SearchPolicy,
    slots: int | None,
    seed: int,
    stages: Sequence[str],
) -> tuple[_Opened, int]:
    """Return a runner of searches with its device, and how many run at once; arguments as for `find`."""
    count = slots if slots is not None else min(len(policy.starts), 2 * usable_cores())
    where = split_devices(place_of_searches(wanted, problem.mutations * problem.columns))
    if is_gpu(where.filter if isinstance(where, Device) else str(where)):
        opened = _open_gpu(where, problem, policy, seed, stages, explicit=wanted != "auto")
        if opened is not None:
            return opened
        where = split_devices(place_of_few(wanted))
    if isinstance(where, Several):
        return _open_shared(where, problem, policy, seed, stages), count
    return _open_one(where, problem, policy, count, seed, stages), count


def _open_gpu(
    where: str | Device | Several,
    problem: SearchProblem,
    policy: SearchPolicy,
    seed: int,
    stages: Sequence[str],
    *,
    explicit: bool,
) -> tuple[_Opened, int] | None:
    """Return a runner of searches on a GPU as `_open` does; None if none of them fits.

    Raises:
        DeviceError: a requested GPU fails in another way.
    """
    gpu = where if isinstance(where, Device) else choose_device(first_of(where))
    try:
        runner = make_search_runner(
            gpu, problem, len(policy.starts), seed, by_columns=policy.by_columns, stages=stages
        )
        if not explicit:
            runner.load(stages)  # so that another device can be taken if that fails
    except DeviceError as error:
        if explicit and not isinstance(error, DeviceMemoryError):
            raise
        logger.info("searches do not run on %s (%s): %s", gpu.filter, gpu.name, error)
        return None
    return (gpu, explicit, runner), runner.slots


def _open_one(
    wanted: str | Device,
    problem: SearchProblem,
    policy: SearchPolicy,
    count: int,
    seed: int,
    stages: Sequence[str],
) -> _Opened:
    """Return a device, whether it was requested, and a runner of searches on it."""
    explicit = wanted != "auto"
    chosen = wanted if isinstance(wanted, Device) else choose_device(wanted)
    meant = chosen if explicit else device_for_search(chosen, stages)
    if meant != chosen and stages:
        logger.info("searches run on %s (%s), where they start sooner", meant.filter, meant.name)
    device, runner = open_first(
        meant,
        lambda one: (
            one,
            make_search_runner(one, problem, count, seed, by_columns=policy.by_columns, stages=stages),
        ),
        explicit=explicit,
    )
    return device, explicit, runner


def _open_shared(
    where: Several, problem: SearchProblem, policy: SearchPolicy, seed: int, stages: Sequence[str]
) -> _Opened:
    """Return the device of the short chains, whether it was requested, and searches of several places.

    The short chains take less time than giving them away.
    """
    from syclade.host.chains.search.shared import make_shared_searches

    searches = make_shared_searches(
        where, problem, len(policy.starts), seed, by_columns=policy.by_columns, stages=stages
    )
    chosen = choose_device(first_of(where))
    explicit = isinstance(where, Devices)
    return (chosen if explicit else device_for_search(chosen, stages)), explicit, searches


class _Reporter:
    """Reporter that converts the progress of chains and of searches to `Progress`."""

    def __init__(self, plan: Plan, problem: SearchProblem, policy: SearchPolicy, context: RunContext) -> None:
        self.chains, self.chain_steps = policy.starts.count(BY_CHAIN), policy.chain_steps
        self._steps = self.chains * self.chain_steps
        self._plan, self._problem, self._context = plan, problem, context
        self._here, self._rate, self._per_second = 0, StepRate(), 0.0
        self._best: int | None = None

    def stepped(self, steps: int, best: int) -> None:
        """Report the steps that the chains have done, and the best score in units of 2^-f nat."""
        self._here, self._per_second = steps, self._rate.after(steps)
        self._report(steps, best)

    def _report(self, steps: int, best: int) -> None:
        self._best = best = best if self._best is None else max(best, self._best)
        self._context.launched(Progress(steps, None, self._steps, best, self._here, self._per_second))

    def searched(self, state: SearchProgress) -> None:
        """Report the progress of the searches; without any score yet, only check for a stop request.

        Raises:
            Stopped: a stop was requested.
        """
        if state.best_score == NO_SCORE:
            if self._context.stop.wanted:
                raise Stopped
            return
        best = self._plan.problem.from_nats(self._problem.to_nats(state.best_score))
        self._report(self._steps, best)


def _run_short(
    plan: Plan, device: Device, encoding: str, seed: int, reporter: _Reporter, *, explicit: bool
) -> tuple[list[ChainState], ShortChains, tuple[WorkDone, ...]]:
    """Run the chains that some searches start from; return their states, statistics and work."""
    nothing = ShortChains(np.zeros(0, dtype=np.int64), no_tallies(len(plan.kinds)), "")
    if not reporter.chains:
        return [], nothing, ()
    chains = ChainsToOpen(plan, encoding, reporter.chains, reporter.chain_steps, None, seed)
    opened = open_first(device, lambda one: open_on(one, chains), explicit=explicit)
    try:
        best = opened.runner.best_scores
        ended = run_short_chains(
            opened.runner,
            reporter.chains,
            reporter.chain_steps,
            lambda steps: reporter.stepped(steps, int(best().max())),
        )
    finally:
        opened.runner.close()
    states = [state for state, _ in ended]
    found = ShortChains(
        np.array([state.best_score for state in states], dtype=np.int64),
        sum((info.tallies for _, info in ended), nothing.tallies),
        opened.encoding.name,
    )
    return states, found, opened.runner.work


def _only_chains(policy: SearchPolicy, mutations: int, short: list[ChainState]) -> SearchOutcome:
    """Return the outcome, made from the chains, of a run that was stopped before any search began."""
    best = max(short, key=lambda state: state.best_score)
    state = state_from(fresh_state(0, mutations), best.best_parents)
    state = replace(state, best_parents=best.best_parents)
    scores = tuple(NO_SCORE for _ in policy.starts)
    trees = tuple(state.best_parents for state in short)
    return SearchOutcome(state, policy.starts, scores, 0, False, True, 0.0, trees)


_LAUNCH = 5_000


def run_short_chains(
    runner: Runner, chains: int, steps: int, launched: Callable[[int], None]
) -> list[tuple[ChainState, ChainInfo]]:
    """Run chains 0 ... chains-1 of a runner's plan; return their states and infos.

    Args:
        runner: runner of the chains; its slots are overwritten.
        chains: number of chains.
        steps: steps of each chain.
        launched: called after every launch with the number of steps done so far, over all chains. If it
            raises `Stopped`, the chains that have begun are returned as they are.
    """
    ended: list[tuple[ChainState, ChainInfo]] = []
    for first in range(0, chains, runner.slots):
        numbers = range(first, min(first + runner.slots, chains))
        for slot, chain in enumerate(numbers):
            runner.put(slot, initial_state(runner.plan, runner.seed, chain))
        stopped = False
        for target in (*range(_LAUNCH, steps, _LAUNCH), steps):
            targets = np.zeros(runner.slots, dtype=np.int64)
            targets[: len(numbers)] = target
            runner.advance(targets)
            try:
                launched(first * steps + target * len(numbers))
            except Stopped:
                stopped = True
                break
        ended += [(runner.get(slot), runner.info(slot)) for slot in range(len(numbers))]
        if stopped:
            break
    return ended
