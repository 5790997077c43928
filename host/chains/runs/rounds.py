"""Rounds: all chains advance together; between two rounds they can be inspected, checkpointed or stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.slots import Slots
from syclade.host.chains.convergence import Change
from syclade.host.chains.recorders import Sink
from syclade.host.chains.runs.pipeline import Clock, Collector, Outcome, Start, run_round
from syclade.host.chains.runs.task import Stopped
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainInfo, ChainState, no_tallies

__all__ = ["Rounds"]

Standing = tuple[ChainState, ChainInfo]


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
        given: Sequence[Standing] = (),
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
        self._states: dict[int, Standing] = {state.chain: (state, info) for state, info in given}

    def advance(self, length: int) -> None:
        """Advance every chain by `length` steps.

        Raises:
            Stopped: between two launches; `standing` then returns every chain where it stopped.
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
        """Go on from other states, between two rounds; statistics stay."""
        states, infos = zip(*self.standing(), strict=True)
        changed = zip(change(states), infos, strict=True)
        self._states = {state.chain: (state, info) for state, info in changed}
        self._in_slots = False

    def best_scores(self) -> NDArray[np.int64]:
        """Return the best score of every chain, between two rounds: int64, shape (chains,)."""
        if self._in_slots:
            return self._runner.best_scores()[: self._chains]
        return np.array([state.best_score for state, _ in self.standing()], dtype=np.int64)

    def standing(self) -> list[Standing]:
        """Return the current state and statistics of every chain, by chain number."""
        if self._in_slots and self._resident:
            return [(self._runner.get(chain), self._runner.info(chain)) for chain in range(self._chains)]
        return [self._states.get(chain) or self._fresh(chain) for chain in range(self._chains)]

    def outcome(self, converged: bool | None = None, standing: Sequence[Standing] | None = None) -> Outcome:
        """Return the outcome of the chains; `standing` is what the method of that name has returned."""
        collected = Collector(self._chains, len(self._runner.plan.kinds))
        for state, info in self.standing() if standing is None else standing:
            collected.add(state, info)
        return collected.outcome(self._clock, converged)

    def _fresh(self, chain: int) -> Standing:
        return self._starts(chain), ChainInfo(no_tallies(len(self._runner.plan.kinds)))

    def _start(self, chain: int) -> Start | None:
        if self._in_slots:
            return None
        return self._states.get(chain) or (self._starts(chain), None)

    def _finish(self, slot: int) -> None:
        if not self._resident:
            state = self._runner.get(slot)
            self._states[state.chain] = state, self._runner.info(slot)
