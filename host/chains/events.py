"""Events: the states that leave chains while they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Event", "Sink"]


@dataclass(frozen=True, eq=False)
class Event:
    """A state that a recorder wanted.

    Attributes:
        chain: the chain's number.
        step: steps that it had done.
        score: integer score of the tree, in units of 2^-f nat.
        why: bit r is set if the plan's r-th recorder wanted it.
        key: the tree's key (`host.trees.key`).
        parents: int32, shape (n + 1,): the tree.
        rate_at: where learned rates stand on their grids.
    """

    chain: int
    step: int
    score: int
    why: int
    key: int
    parents: NDArray[np.int32]
    rate_at: tuple[int, int] = (0, 0)


class Sink(Protocol):
    """Something that takes events. It gets those of a chain in the order of its steps."""

    def take(self, events: Sequence[Event]) -> None:
        """Take the events of a launch."""
