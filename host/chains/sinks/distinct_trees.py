"""The distinct trees among events, with how often each came: posterior samples, co-optimal trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["DistinctTrees", "FoundTree"]


@dataclass
class FoundTree:
    """A tree and how often it came.

    Attributes:
        score: in units of 2^-f nat, when it first came.
        parents: int32, shape (n + 1,).
        count: events that had it.
    """

    score: int
    parents: NDArray[np.int32]
    count: int = 1


class DistinctTrees:
    """Trees by their keys; two trees with one key are taken for one, which happens once in 2^64 pairs.

    Args:
        why: take only events whose `why` has one of these bits; all events without.

    Attributes:
        by_key: in the order in which they first came.
    """

    def __init__(self, why: int | None = None) -> None:
        self.by_key: dict[int, FoundTree] = {}
        self._why = why

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if self._why is not None and not event.why & self._why:
                continue
            known = self.by_key.get(event.key)
            if known is None:
                self.by_key[event.key] = FoundTree(event.score, event.parents)
            else:
                known.count += 1

    def best(self) -> list[FoundTree]:
        """Those with the greatest score among all that came."""
        top = max((tree.score for tree in self.by_key.values()), default=0)
        return [tree for tree in self.by_key.values() if tree.score == top]
