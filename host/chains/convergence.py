"""When to stop by itself: the chains go on in rounds until they agree on the best score.

The rule looks at the chains at fixed numbers of steps only, so that it, like everything else, depends
neither on the number of slots nor on the length of launches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends import Runner
from syclade.host.chains.events import Sink
from syclade.host.chains.pipeline import Clock, Collector, Outcome, Progress, Start, initial_state, run_round
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.state import ChainInfo, ChainState

__all__ = ["StoppingRule", "run_until_converged"]


@dataclass(frozen=True)
class StoppingRule:
    """Stop at the end of a round when, all at once,

    - every chain has done at least `least_steps` steps;
    - the chains agree: at least the fraction `agreement` of them, and never fewer than two, have found a
      tree with the best score of all (exactly: scores are integers);
    - that score has been the best since half of the steps, or longer.

    A single chain stops by the other two conditions, but is never said to agree: that its best score stands
    for long may as well mean that it is stuck. Stop at `most_steps` steps in any case.

    Attributes:
        round_steps: steps of every chain between two looks.
        least_steps, most_steps: steps a chain, multiples of `round_steps`.
        agreement: between 0 and 1.
    """

    round_steps: int = 50_000
    least_steps: int = 100_000
    most_steps: int = 2_000_000
    agreement: float = 0.5

    def agree(self, best_scores: NDArray[np.int64]) -> bool:
        """Whether enough chains have found the best score; one chain alone never agrees.

        Args:
            best_scores: int64, shape (chains,): the best of every chain.
        """
        needed = max(2, int(np.ceil(self.agreement * len(best_scores))))
        return int((best_scores == best_scores.max()).sum()) >= needed

    def earliest_end(self, steps: int, best_since: int) -> int:
        """The fewest steps a chain at which to stop next, seen from the end of a round.

        Args:
            steps: that every chain has done.
            best_since: as for `satisfied`.
        """
        wanted = max(self.least_steps, 2 * best_since, steps + self.round_steps)
        rounds = -(-wanted // self.round_steps)
        return min(rounds * self.round_steps, self.most_steps)

    def satisfied(self, steps: int, best_scores: NDArray[np.int64], best_since: int) -> bool:
        """Whether to stop.

        Args:
            steps: that every chain has done.
            best_scores: int64, shape (chains,): the best of every chain.
            best_since: end of the round in which the best of them was first seen, in steps.
        """
        return (
            steps >= self.least_steps
            and (len(best_scores) == 1 or self.agree(best_scores))
            and 2 * best_since <= steps
        )


def run_until_converged(
    runner: Runner,
    *,
    chains: int,
    rule: StoppingRule,
    progress: Callable[[Progress], None] | None = None,
    sinks: Sequence[Sink] = (),
) -> tuple[Outcome, int]:
    """Run chains 0 … chains-1 until the rule says stop.

    Args:
        runner: its slots are overwritten.
        chains: at least 1.
        rule: when to stop.
        progress: called after every launch.
        sinks: get all events.

    Returns:
        The outcome, and the steps that every chain has done.
    """
    clock = Clock(None, progress)
    resident = chains <= runner.slots  # then no chain ever leaves its slot
    states: dict[int, tuple[ChainState, ChainInfo]] = {}
    best_scores = np.zeros(chains, dtype=np.int64)
    best_since = steps = 0
    best = None

    def start(chain: int) -> Start | None:
        if steps == 0:
            return initial_state(runner.plan, runner.seed, chain), None
        return None if resident else states[chain]

    def finish(slot: int) -> None:
        if not resident:
            state = runner.get(slot)
            states[state.chain] = state, runner.info(slot)

    while True:
        clock.steps_expected = chains * rule.earliest_end(steps, best_since)
        schedule = SlotSchedule(chains, rule.round_steps, runner.slots)
        run_round(runner, schedule, first_step=steps, start=start, finish=finish, clock=clock, sinks=sinks)
        steps += rule.round_steps
        if resident:
            best_scores = runner.best_scores()[:chains]
        else:
            best_scores = np.array([states[chain][0].best_score for chain in range(chains)])
        if best is None or int(best_scores.max()) > best:
            best, best_since = int(best_scores.max()), steps
        satisfied = rule.satisfied(steps, best_scores, best_since)
        if satisfied or steps >= rule.most_steps:
            break
    collected = Collector(chains, len(runner.plan.kinds))
    for chain in range(chains):
        collected.add(*((runner.get(chain), runner.info(chain)) if resident else states[chain]))
    return collected.outcome(clock, satisfied and rule.agree(best_scores)), steps
