"""The macro-pipeline: c slots are kept full of chain states until every chain has done its steps.

This is the thesis's IO kernel (section 3.4, algorithm 3.10) on the host: when a chain has done its steps, the
next chain's initial state takes its slot. The result depends neither on c nor on the length of launches.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.clock import Clock, Progress
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.shares import uniform_log_shares
from syclade.host.chains.state import ChainInfo, ChainState, Sink, no_tallies

__all__ = [
    "Collector",
    "Outcome",
    "Start",
    "initial_state",
    "initial_states",
    "run_chains",
    "run_round",
    "state_at",
]


Start = tuple[ChainState, ChainInfo | None]
"""A chain's state, and its statistics so far; None instead of statistics for a new chain."""

MOST_TREES = 64
"""Number of chains whose best trees an outcome keeps."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a run of the pipeline.

    Attributes:
        best: final state of the chain with the best tree (of equal ones, the chain with the lowest number).
        best_scores: int64, shape (chains,): best score of every chain, in units of 2^-f nat.
        tallies: int64, shape (2 * kinds,): steps proposed by kind of move, then accepted, over all chains.
        steps: chain steps done, over all chains.
        seconds: wall time of the chains.
        converged: whether the chains agreed (see convergence.py); None if this was not checked.
        trees: best trees of the first `MOST_TREES` chains: int32, shape (nodes,).
    """

    best: ChainState
    best_scores: NDArray[np.int64]
    tallies: NDArray[np.int64]
    steps: int
    seconds: float
    converged: bool | None = None
    trees: tuple[NDArray[np.int32], ...] = ()


def run_chains(
    runner: Slots,
    *,
    chains: int,
    steps: int,
    progress: Callable[[Progress], None] | None = None,
    sinks: Sequence[Sink] = (),
) -> Outcome:
    """Run chains 0 … chains-1 for `steps` steps each.

    Args:
        runner: its slots are overwritten.
        chains: number of chains, at least 1.
        steps: steps of each chain, at least 1.
        progress: called after every launch.
        sinks: receive all events.
    """
    collected = Collector(chains, len(runner.plan.kinds))
    clock = Clock(chains * steps, progress)

    def finish(slot: int) -> None:
        collected.add(runner.get(slot), runner.info(slot))
        clock.best_finished = collected.best_score

    run_round(
        runner,
        SlotSchedule(chains, steps, runner.slots),
        first_step=0,
        start=lambda chain: (initial_state(runner.plan, runner.seed, chain), None),
        finish=finish,
        clock=clock,
        sinks=sinks,
    )
    return collected.outcome(clock)


class Collector:
    """Results collected from the chains that have finished."""

    def __init__(self, chains: int, kinds: int) -> None:
        self._best_scores = np.zeros(chains, dtype=np.int64)
        self._tallies = no_tallies(kinds)
        self._best: ChainState | None = None
        self._trees: dict[int, NDArray[np.int32]] = {}

    @property
    def best_score(self) -> int | None:
        """Best score so far, in units of 2^-f nat; None before the first chain."""
        return None if self._best is None else self._best.best_score

    def add(self, state: ChainState, info: ChainInfo) -> None:
        """Add a chain that has finished."""
        self._best_scores[state.chain] = state.best_score
        self._tallies += info.tallies
        if state.chain < MOST_TREES:
            self._trees[state.chain] = state.best_parents
        best = self._best
        if best is None or (state.best_score, -state.chain) > (best.best_score, -best.chain):
            self._best = state

    def outcome(self, clock: Clock, converged: bool | None = None) -> Outcome:
        """Return the outcome, once every chain has finished."""
        assert self._best is not None
        trees = tuple(self._trees[chain] for chain in sorted(self._trees))
        return Outcome(
            self._best, self._best_scores, self._tallies, clock.steps_done, clock.seconds(), converged, trees
        )


def run_round(
    runner: Slots,
    schedule: SlotSchedule,
    *,
    first_step: int,
    start: Callable[[int], Start | None],
    finish: Callable[[int], None],
    clock: Clock,
    sinks: Sequence[Sink] = (),
) -> None:
    """Run every chain of a schedule from `first_step` to its end.

    Args:
        runner: its slots are overwritten.
        schedule: a schedule that has not begun.
        first_step: steps that every chain has already done.
        start: (chain) -> its state and statistics, or None if the chain is already in its slot.
        finish: called with the slot of a chain that has done its steps, before another chain takes the slot.
        clock: counts steps and time.
        sinks: receive all events.
    """
    _fill(runner, schedule, start)
    while not schedule.done:
        length = schedule.until_turnover
        if not runner.returns_early:
            length = min(clock.launch, length)
        targets = np.array(
            [
                0 if chain is None else first_step + schedule.step_of(slot) + length
                for slot, chain in enumerate(schedule.occupants)
            ],
            dtype=np.int64,
        )
        occupied = [slot for slot, chain in enumerate(schedule.occupants) if chain is not None]
        launched = time.perf_counter()
        _advance(runner, targets, sinks, clock, length * len(occupied))
        seconds = time.perf_counter() - launched
        clock.look_up(functools.partial(_acceptance, runner, occupied))
        best_score = int(runner.best_scores()[occupied].max())
        for turnover in schedule.advance(length):
            finish(turnover.slot)
            started = None if turnover.next is None else start(turnover.next)
            if started is not None:
                runner.put(turnover.slot, *started)
        clock.launched(length, len(occupied), seconds, best_score)


def _advance(
    runner: Slots, targets: NDArray[np.int64], sinks: Sequence[Sink], clock: Clock, steps: int
) -> None:
    """Advance every slot to its target by `steps` in all; repeat while rings of events fill up on the way."""
    while True:
        advanced = runner.advance(targets)
        for sink in sinks:
            sink.take(advanced.events)
        left = int(np.maximum(targets - advanced.steps, 0).sum())
        if not left:
            return
        if runner.returns_early:
            clock.under_way(steps - left, int(runner.best_scores()[targets > 0].max()))


def _acceptance(runner: Slots, slots: Sequence[int]) -> dict[str, float]:
    """Return the share of proposals that were accepted, by kind of move, over the chains in the slots."""
    tallies = np.sum([runner.info(slot).tallies for slot in slots], axis=0)
    proposed, accepted = tallies.reshape(2, -1).tolist()
    counts = zip(runner.plan.kinds, proposed, accepted, strict=True)
    return {kind: taken / tried for kind, tried, taken in counts if tried and taken}


def _fill(runner: Slots, schedule: SlotSchedule, start: Callable[[int], Start | None]) -> None:
    """Put the first chains into their slots."""
    started = [None if chain is None else start(chain) for chain in schedule.occupants]
    fresh = [one[0] for one in started if one is not None and one[1] is None]
    if len(fresh) == runner.slots:
        runner.put_all(fresh)
        return
    for slot, one in enumerate(started):
        if one is not None:
            runner.put(slot, *one)


def initial_state(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain before its first step: a uniformly random tree of the plan's space, and its score."""
    return state_at(plan, plan.space.initial(plan.labels, seed, chain), chain)


def initial_states(plan: Plan, seed: int, chains: Iterable[int]) -> list[ChainState]:
    """Return chains, by their numbers, before their first steps; a tree that several have is scored once."""
    known: dict[bytes, ChainState] = {}
    states = []
    for chain in chains:
        parents = plan.space.initial(plan.labels, seed, chain)
        tree = parents.tobytes()
        if tree not in known:
            known[tree] = state_at(plan, parents, chain)
        states.append(replace(known[tree], chain=chain))
    return states


def state_at(plan: Plan, parents: NDArray[np.int32], chain: int, step: int = 0) -> ChainState:
    """Return the state of a chain at a tree, which is also its best tree so far; nodes have equal shares."""
    if plan.score.shares:
        rates = replace(plan.problem.rates, log_shares=uniform_log_shares(plan.problem))
        score = plan.score_of(parents, rates)
        return ChainState(chain, step, parents, score, parents, score, rates, plan.gamma)
    score, at = plan.score_of(parents), plan.start_rates
    return ChainState(
        chain, step, parents, score, parents, score, plan.problem.rates, plan.gamma,
        rate_at=at, best_rate_at=at,
    )  # fmt: skip
