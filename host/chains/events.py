"""Events: the states that chains emit while they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.rate_model import NOWHERE, Places

__all__ = ["Event", "Sink"]


class Event(NamedTuple):
    """A state that a recorder selected.

    Attributes:
        chain: number of the chain.
        step: steps that the chain had done.
        score: integer score of the tree, in units of 2^-f nat.
        why: bit r is set if the plan's r-th recorder selected the state.
        key: key of the tree (`host.data.trees.tree`).
        parents: int32, shape (n + 1,): the tree.
        rate_at: grid indices of the learned rates.
    """

    chain: int
    step: int
    score: int
    why: int
    key: int
    parents: NDArray[np.int32]
    rate_at: Places = NOWHERE


class Sink(Protocol):
    """A consumer of events. It receives the events of each chain in the order of the chain's steps."""

    def take(self, events: Sequence[Event]) -> None:
        """Take the events of a launch."""
