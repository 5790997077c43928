"""The state of one chain: a plain value, all that its next step needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ChainState"]


@dataclass(frozen=True)
class ChainState:
    """One chain between two steps. Together with the seed it determines all that follows.

    Attributes:
        chain: the chain's number; with the seed it fixes the random numbers.
        step: number of steps done, which is the number of the next step.
        score: integer score of the tree, in units of 2^-f nat.
        best_score: the best score yet.
        parents: int32, shape (n + 1,): the tree.
        best_parents: int32, shape (n + 1,): the first tree that had the best score.
        tallies: int64, shape (10,): steps proposed and accepted by kind of move. Information only.
    """

    chain: int
    step: int
    score: int
    best_score: int
    parents: NDArray[np.int32]
    best_parents: NDArray[np.int32]
    tallies: NDArray[np.int64] = field(default_factory=lambda: np.zeros(10, dtype=np.int64))
