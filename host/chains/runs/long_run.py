"""Long runs: chains from their start or a checkpoint to a fixed number of steps or a stopping rule.

All chains advance together in rounds. Between two rounds they can be inspected, checkpointed or stopped.
Checkpoints are written when they are due. The lengths of the rounds do not affect the result: shares of the
cells are renewed at fixed numbers of steps, after the checkpoint of that step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.convergence import Change, Rule, StoppingRule
from syclade.host.chains.gibbs import GibbsSteps, renewal_steps
from syclade.host.chains.runs.clock import Clock
from syclade.host.chains.runs.context import KIND, RunContext, open_store, resumed_chains
from syclade.host.chains.runs.pipeline import Collector, Outcome, Start, initial_state, run_round
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.state import ChainInfo, ChainState, Sink, no_tallies
from syclade.host.ground.signals import Stopped
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.chains.sample_store import SampleStore

__all__ = ["Ran", "Rounds", "run_long"]


ChainAndInfo = tuple[ChainState, ChainInfo]


class Rounds:
    """All chains of a run, at the same step between two rounds.

    Attributes:
        steps: steps that every chain has done.
    """

    def __init__(
        self,
        runner: Slots,
        chains: int,
        clock: Clock,
        *,
        given: Sequence[ChainAndInfo] = (),
        starts: Callable[[int], ChainState] | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        """Set up the chains without running them.

        Args:
            runner: its slots are overwritten.
            chains: number of chains.
            clock: counts steps and time.
            given: all chains as an earlier run left them; if empty, chains begin with their first step.
            starts: (chain) -> its state before the first step; random trees by default.
            sinks: receive all events.
        """
        self.steps = given[0][0].step if given else 0
        self._runner, self._chains, self._clock, self._sinks = runner, chains, clock, sinks
        self._starts = starts or (lambda chain: initial_state(runner.plan, runner.seed, chain))
        self._resident = chains <= runner.slots  # then no chain ever leaves its slot
        self._in_slots = False
        self._states: dict[int, ChainAndInfo] = {state.chain: (state, info) for state, info in given}

    def advance(self, length: int) -> None:
        """Advance every chain by `length` steps.

        Raises:
            Stopped: between two launches; `current` then returns every chain where it stopped.
        """
        schedule = SlotSchedule(self._chains, length, self._runner.slots)
        try:
            run_round(
                self._runner,
                schedule,
                first_step=self.steps,
                start=self._start,
                finish=self._finish,
                clock=self._clock,
                sinks=self._sinks,
            )
        except Stopped:
            # Resident chains stay in their slots, also those that have just done the round's last step.
            occupants = range(self._chains) if self._resident else schedule.occupants
            for slot, chain in enumerate(occupants):
                if chain is not None:
                    self._states[chain] = self._runner.get(slot), self._runner.info(slot)
            self._resident = False  # from here on, `_states` has the current states
            raise
        self._in_slots = self._resident
        self.steps += length

    def change(self, change: Change) -> None:
        """Continue from other states, between two rounds; statistics stay."""
        states, infos = zip(*self.current(), strict=True)
        changed = zip(change(states), infos, strict=True)
        self._states = {state.chain: (state, info) for state, info in changed}
        self._in_slots = False

    def best_scores(self) -> NDArray[np.int64]:
        """Return the best score of every chain, between two rounds: int64, shape (chains,)."""
        if self._in_slots:
            return self._runner.best_scores()[: self._chains]
        return np.array([state.best_score for state, _ in self.current()], dtype=np.int64)

    def current(self) -> list[ChainAndInfo]:
        """Return the current state and statistics of every chain, by chain number."""
        if self._in_slots and self._resident:
            return [(self._runner.get(chain), self._runner.info(chain)) for chain in range(self._chains)]
        return [self._states.get(chain) or self._fresh(chain) for chain in range(self._chains)]

    def outcome(
        self, converged: bool | None = None, current: Sequence[ChainAndInfo] | None = None
    ) -> Outcome:
        """Return the outcome of the chains; `current` is what the method of that name has returned."""
        collected = Collector(self._chains, len(self._runner.plan.kinds))
        for state, info in self.current() if current is None else current:
            collected.add(state, info)
        return collected.outcome(self._clock, converged)

    def _fresh(self, chain: int) -> ChainAndInfo:
        return self._starts(chain), ChainInfo(no_tallies(len(self._runner.plan.kinds)))

    def _start(self, chain: int) -> Start | None:
        if self._in_slots:
            return None
        return self._states.get(chain) or (self._starts(chain), None)

    def _finish(self, slot: int) -> None:
        if not self._resident:
            state = self._runner.get(slot)
            self._states[state.chain] = state, self._runner.info(slot)


class Ran(NamedTuple):
    """Result of a long run.

    Attributes:
        outcome: the outcome; its `converged` says whether the chains agree by the rule.
        steps: steps that every chain has done.
        samples: the events of the chains; None if they were not to be stored.
        stopped: whether a stop request has ended it.
    """

    outcome: Outcome
    steps: int
    samples: SampleStore | None
    stopped: bool = False


class _Run:
    """A run in progress."""

    def __init__(self, rounds: Rounds, context: RunContext, runner: Slots, store: SampleStore | None) -> None:
        self.rounds, self.context, self.runner, self._store = rounds, context, runner, store
        self._stored: JsonObject = {}
        self.best: int | None = None
        self.best_since = 0
        self._recorded: list[tuple[ChainState, ChainInfo]] = []

    def begin(
        self, chains: Sequence[tuple[ChainState, ChainInfo]], best: int | None, best_since: int
    ) -> None:
        """Record the state before the first round: it is checkpointed if the run stops in that round.

        There is no round if the resumed run had already ended.
        """
        self.best, self.best_since = best, best_since
        self._record(chains)

    def look(self) -> None:
        """Update the best score after a round, and write a checkpoint if one is due."""
        best = int(self.rounds.best_scores().max())
        if self.best is None or best > self.best:
            self.best, self.best_since = best, self.rounds.steps
        if self.context.checkpoints.writes:
            self._record(self.rounds.current())
            if self.context.checkpoints.due():
                self.keep()

    def _record(self, chains: Sequence[tuple[ChainState, ChainInfo]]) -> None:
        self._recorded = list(chains)
        if self._store is not None:
            self._stored = {"events": self._store.length, "events_digest": self._store.digest}

    def keep(self) -> None:
        """Write a checkpoint of the last recorded state, if there is one."""
        if not self._recorded:
            return
        run = {"kind": KIND, "best": self.best, "best_since": self.best_since, **self._stored}
        if self._store is not None:
            self._store.sync()  # before the checkpoint that refers to it
            if self._store.failure is not None:
                self.context.checkpoints.give_up(self._store.failure)
        chains = tuple(self._recorded)

        def write(path: Path, stored: JsonObject, force: bool) -> None:
            from syclade.host.chains.checkpoints.chains import Checkpoint, write_checkpoint

            content = Checkpoint(self.runner.seed, chains, {**run, **stored})
            write_checkpoint(path, self.runner.plan, content, force)

        self.context.checkpoints.write(write)


def run_long(
    runner: Slots,
    *,
    chains: int,
    until: int | Rule,
    context: RunContext | None = None,
    starts: Callable[[int], ChainState] | None = None,
    sampled: bool = False,
    sinks: Sequence[Sink] = (),
) -> Ran:
    """Run chains 0 … chains-1 to their end, or until a stop is requested.

    Args:
        runner: its slots are overwritten.
        chains: number of chains, at least 1.
        until: steps of each chain, at least 1; or a stopping rule.
        context: run context: progress callback, checkpointing, stop request.
        starts: (chain) -> its state before the first step; random trees by default.
        sampled: whether to store the chains' events.
        sinks: receive all events of this process; those of a resumed run are in its store only.

    Raises:
        CheckpointError: the checkpoint to resume from belongs to another run, or is damaged.
        OutputError: the samples cannot be written.
    """
    context = RunContext() if context is None else context
    rule, fixed = (StoppingRule(), until) if isinstance(until, int) else (until, None)
    given, stored = resumed_chains(runner, chains, until, context.checkpoints)
    before = sum(state.step for state, _ in given)
    clock = Clock(None if fixed is None else chains * fixed, context.launched, before)
    store = (
        open_store(runner.plan, chains, context.checkpoints, stored, before // chains) if sampled else None
    )
    consumers = sinks if store is None else (*sinks, store)
    rounds = Rounds(runner, chains, clock, given=given, starts=starts, sinks=consumers)
    run = _Run(rounds, context, runner, store)
    if given:
        best = None if stored["best"] is None else int(stored["best"])
        run.begin(given, best, int(stored["best_since"]))
    elif context.checkpoints.writes and not context.stop.wanted:
        # After a stop request the starts may be incomplete.
        run.begin(rounds.current(), None, 0)
    try:
        (_to_rule(run, clock, chains, rule) if fixed is None else _to_step(run, fixed))
    except Stopped:
        run.keep()
        chains_now = rounds.current()  # scoring the starts of many chains that have not begun takes long
        steps = min(state.step for state, _ in chains_now)
        return Ran(rounds.outcome(converged=False, current=chains_now), steps, store, stopped=True)
    run.keep()
    agreed = rule.agree(rounds.best_scores())
    if fixed is None:
        agreed = agreed and rule.satisfied(rounds.steps, rounds.best_scores(), run.best_since)
    return Ran(rounds.outcome(agreed), rounds.steps, store)


def _to_rule(run: _Run, clock: Clock, chains: int, rule: Rule) -> None:
    while True:
        steps = run.rounds.steps
        if steps and (
            rule.satisfied(steps, run.rounds.best_scores(), run.best_since) or steps >= rule.most_steps
        ):
            return
        clock.steps_expected = chains * rule.earliest_end(steps, run.best_since)
        change = rule.change_at(steps)
        if change is not None:
            run.rounds.change(change)
        run.rounds.advance(rule.length_at(steps))
        run.look()


def _to_step(run: _Run, steps: int) -> None:
    """Run one round; with checkpoints, run many rounds after a first short one.

    Each takes about `Slots.round_seconds`: a killed run loses at most this much, in addition to `every`.
    """
    seconds, plan = run.runner.round_seconds, run.runner.plan
    renewal = renewal_steps(plan.problem) if plan.score.shares else steps
    renew = GibbsSteps(plan, run.runner.seed)
    length = steps if not run.context.checkpoints.writes else 1000
    while (done := run.rounds.steps) < steps:
        if done and done % renewal == 0:
            run.rounds.change(renew)
        begun, doing = time.perf_counter(), min(length, steps - done, renewal - done % renewal)
        run.rounds.advance(doing)
        run.look()
        fitting = int(doing * seconds / max(time.perf_counter() - begun, 1e-6))
        if run.context.checkpoints.writes and doing == length:
            length = max(1, min(fitting, 4 * doing))
