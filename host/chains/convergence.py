"""Automatic stopping: chains run in rounds until they agree on the best score.

The rule looks at the chains only at fixed numbers of steps. So the result depends neither on the number of
slots nor on the length of launches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import ChainState

__all__ = ["Change", "Rule", "StoppingRule"]

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
