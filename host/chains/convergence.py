"""Automatic stopping, and annealing: rounds after which chains are compared.

The rule of stopping looks at the chains only at fixed numbers of steps, until they agree on the best score.
So the result depends neither on the number of slots nor on the length of launches.

At gamma = 1 a chain spends its time where most of the probability is, not at the best tree. In annealing,
gamma rises during a cycle of rounds from `GAMMAS[0]`, where the chain leaves valleys, to `GAMMAS[-1]`, where
it takes hardly any step down. Cycles become longer. Chains belong to islands: when a cycle ends, the worse
half of an island's chains goes on from the island's best tree. Trees never pass between islands, so a score
that several of them found was found independently.

Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", 1983; parameters measured on
simulated matrices with doublets (docs/infscite.md, "Search").
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import ChainState

__all__ = ["GAMMAS", "Annealing", "Change", "Rule", "StoppingRule", "annealing_for"]

Change = Callable[[Sequence[ChainState]], Sequence[ChainState]]
"""Changes the states of all chains, by number, between two rounds."""


class Rule(Protocol):
    """Rounds of chains, and when they stop. All of it depends on the chains' steps and states only."""

    @property
    def most_steps(self) -> int:
        """Return the steps per chain of the longest run."""

    def gamma_of(self, steps: int) -> float | None:
        """Return gamma of the chains after the round that ends at `steps`; None if it is the plan's."""

    def is_between_rounds(self, steps: int) -> bool:
        """Return whether chains with this number of steps are between two rounds."""

    def length_at(self, steps: int) -> int:
        """Return the number of steps of the round that begins after `steps` steps."""

    def change_at(self, steps: int) -> Change | None:
        """Return the function that changes states before the round after `steps` steps; None for none."""

    def agree(self, best_scores: NDArray[np.int64]) -> bool:
        """Return whether enough chains have found the best score: int64, shape (chains,)."""

    def earliest_end(self, steps: int, best_since: int) -> int:
        """Return the fewest steps per chain after which the run may stop, as known at the end of a round."""

    def satisfied(self, steps: int, best_scores: NDArray[np.int64], best_since: int) -> bool:
        """Return whether to stop.

        Args:
            steps: steps that every chain has done.
            best_scores: int64, shape (chains,): best score of every chain.
            best_since: end of the round in which the best of these scores was first seen, in steps.
        """


@dataclass(frozen=True)
class StoppingRule:
    """Stop at the end of a round when all of these hold:

    - every chain has done at least `least_steps` steps;
    - the chains agree: at least the fraction `agreement` of them, and never fewer than two, have found a
      tree with the best score of all chains (compared exactly: scores are integers);
    - the best score has not improved for at least half of the steps.

    A single chain stops by the other two conditions, but never counts as agreeing: a best score that does
    not improve may also mean a stuck chain. Every run stops at `most_steps` steps.

    Attributes:
        round_steps: steps of every chain between two checks.
        least_steps, most_steps: steps per chain, multiples of `round_steps`.
        agreement: fraction of the chains, between 0 and 1.
    """

    round_steps: int = 50_000
    least_steps: int = 100_000
    most_steps: int = 2_000_000
    agreement: float = 0.5

    def gamma_of(self, steps: int) -> float | None:
        """See `Rule.gamma_of`."""
        return None

    def is_between_rounds(self, steps: int) -> bool:
        """See `Rule.is_between_rounds`."""
        return steps % self.round_steps == 0

    def length_at(self, steps: int) -> int:
        """See `Rule.length_at`."""
        return self.round_steps

    def change_at(self, steps: int) -> None:
        """See `Rule.change_at`."""

    def agree(self, best_scores: NDArray[np.int64]) -> bool:
        """See `Rule.agree`; a single chain never agrees."""
        needed = max(2, int(np.ceil(self.agreement * len(best_scores))))
        return int((best_scores == best_scores.max()).sum()) >= needed

    def earliest_end(self, steps: int, best_since: int) -> int:
        """See `Rule.earliest_end`."""
        wanted = max(self.least_steps, 2 * best_since, steps + self.round_steps)
        rounds = -(-wanted // self.round_steps)
        return min(rounds * self.round_steps, self.most_steps)

    def satisfied(self, steps: int, best_scores: NDArray[np.int64], best_since: int) -> bool:
        """See `Rule.satisfied`."""
        return (
            steps >= self.least_steps
            and (len(best_scores) == 1 or self.agree(best_scores))
            and 2 * best_since <= steps
        )


GAMMAS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
"""Gamma of each round of a cycle."""

_FIRST_ROUND = 500
_LEAST_CYCLES = 3
_LEAST_STEPS = 2_000
_MOST_STEPS = 2_000_000
_MOST_WORK = 5 * 10**11
"""Steps of all chains, times cells, times mutations: about four minutes on two cores."""


@dataclass(frozen=True)
class Annealing:
    """Rounds of rising gamma, until islands agree; see `convergence.Rule`.

    Chains stop at the end of a cycle, after at least three cycles, when half of the islands, and never fewer
    than two, have found the best score, and it has not improved for at least half of the steps; or at the end
    of the first cycle that reaches the budget.

    Attributes:
        budget: steps per chain; the cycle that reaches them is the last, whether or not the islands agree.
        islands: number of islands; chain c belongs to island c % islands.
    """

    budget: int = _MOST_STEPS
    islands: int = 4

    @property
    def most_steps(self) -> int:
        """Return the steps per chain of the longest run: whole cycles."""
        return next(end for end in _ends() if end >= self.budget)

    def gamma_of(self, steps: int) -> float | None:
        """Return gamma of the round that ends after a number of steps; None if that is the start."""
        return None if steps == 0 else GAMMAS[(_place(steps)[1] - 1) % len(GAMMAS)]

    def is_between_rounds(self, steps: int) -> bool:
        """Return whether a round ends after this number of steps."""
        return _place(steps)[2] == 0

    def length_at(self, steps: int) -> int:
        """Return the number of steps of the round that begins after `steps` steps."""
        return _round_of(_place(steps)[0])

    def change_at(self, steps: int) -> Change:
        """See `Rule.change_at`."""
        _, number, _ = _place(steps)

        def change(states: Sequence[ChainState]) -> list[ChainState]:
            begun = list(states)
            if number == 0 and steps:
                for island in range(min(self.islands, len(begun))):
                    begun[island :: self.islands] = _begin_cycle(begun[island :: self.islands])
            return [replace(state, gamma=GAMMAS[number]) for state in begun]

        return change

    def agree(self, best_scores: NDArray[np.int64]) -> bool:
        """Return whether half of the islands, and at least two, have found the best score.

        Args:
            best_scores: int64, shape (chains,): best score of every chain.
        """
        finders = np.unique(np.flatnonzero(best_scores == best_scores.max()) % self.islands)
        return len(finders) >= max(2, -(-self.islands // 2))

    def earliest_end(self, steps: int, best_since: int) -> int:
        """See `Rule.earliest_end`."""
        ends = itertools.islice(_ends(), _LEAST_CYCLES - 1, None)
        return min(next(end for end in ends if end > steps and end >= 2 * best_since), self.most_steps)

    def satisfied(self, steps: int, best_scores: NDArray[np.int64], best_since: int) -> bool:
        """See `Rule.satisfied`."""
        cycle, number, _ = _place(steps)
        ended = number == 0 and cycle >= _LEAST_CYCLES
        return ended and 2 * best_since <= steps and self.agree(best_scores)


def annealing_for(chains: int, cells: int, mutations: int) -> Annealing:
    """Return the annealing whose budget suits a matrix: at most about `_MOST_WORK`, within limits.

    Args:
        chains, cells, mutations: sizes of the run.
    """
    affordable = _MOST_WORK // (chains * cells * mutations)
    return Annealing(min(max(affordable, _LEAST_STEPS), _MOST_STEPS))


def _round_of(cycle: int) -> int:
    """Return the number of steps of a round in a cycle: each cycle is half as long again as the last."""
    return int(_FIRST_ROUND * 1.5**cycle)


def _ends() -> Iterator[int]:
    """Yield the number of steps after each cycle."""
    return itertools.accumulate(len(GAMMAS) * _round_of(cycle) for cycle in itertools.count())


def _place(steps: int) -> tuple[int, int, int]:
    """Return the cycle, the number of the round in it, and the steps within that round, after some steps."""
    begun = 0
    for cycle, end in enumerate(_ends()):
        if steps < end:
            return cycle, *divmod(steps - begun, _round_of(cycle))
        begun = end
    raise AssertionError("cycles have no end")


def _begin_cycle(states: Sequence[ChainState]) -> list[ChainState]:
    """Return the states of an island's chains at the start of a cycle.

    Each chain goes on from its best tree; those of the worse half from the island's best.
    """
    order = sorted(range(len(states)), key=lambda one: -states[one].best_score)
    best, begun = states[order[0]], list(states)
    for place, one in enumerate(order):
        source = states[one] if 2 * place < len(order) else best
        parents, score = source.best_parents, source.best_score
        begun[one] = replace(
            states[one], parents=parents, score=score, best_parents=parents, best_score=score
        )
    return begun
