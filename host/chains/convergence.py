"""When to stop by itself: the chains go on in rounds until they agree on the best score.

The rule looks at the chains at fixed numbers of steps only, so that it, like everything else, depends
neither on the number of slots nor on the length of launches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoppingRule"]


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
