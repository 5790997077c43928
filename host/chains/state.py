"""The state of one chain: a plain value, all that its next step needs; and what is only told of it, apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import SlotRates

__all__ = ["ChainInfo", "ChainState", "no_tallies"]


def no_tallies(kinds: int) -> NDArray[np.int64]:
    """Nothing counted yet, of so many kinds of moves."""
    return np.zeros(2 * kinds, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ChainState:
    """One chain between two steps. With the seed and the plan it determines all that follows.

    Attributes:
        chain: the chain's number; with the seed it fixes the random numbers.
        step: number of steps done, which is the number of the next step.
        parents: int32, shape (n + 1,): the tree.
        score: integer score of the tree, in units of 2^-f nat.
        best_parents: int32, shape (n + 1,): the first tree that had the best score.
        best_score: the best score yet.
        rates: the weights by which it is scored.
        gamma: exponent of the likelihood in the accept test; may be changed between launches.
        settings: what scores and recorders want to know of the slot besides, by the names of their arguments.
        rate_at: where learned rates stand on their grids (`rates` follow from it).
        best_rate_at: likewise, when the best tree was found.
    """

    chain: int
    step: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int
    rates: SlotRates
    gamma: float = 1.0
    settings: Mapping[str, int] = field(default_factory=dict)
    rate_at: tuple[int, int] = (0, 0)
    best_rate_at: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class ChainInfo:
    """What is told of a chain; nothing depends on it.

    Attributes:
        tallies: int64, shape (2 * kinds,): steps proposed by kind of move, then steps accepted.
    """

    tallies: NDArray[np.int64]
