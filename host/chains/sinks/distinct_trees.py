"""Distinct trees among events, with their counts: posterior samples, co-optimal trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["DistinctTrees", "FoundTree"]


@dataclass
class FoundTree:
    """A tree and its count.

    Attributes:
        score: score in the first event with this tree, in units of 2^-f nat.
        parents: int32, shape (n + 1,): the tree.
        count: number of events with this tree.
    """

    score: int
    parents: NDArray[np.int32]
    count: int = 1


class DistinctTrees:
    """Trees by key. Different trees with equal keys count as one tree; this happens once in 2^64 pairs.

    Args:
        why: take only events whose `why` has one of these bits; by default all events.

    Attributes:
        by_key: the trees, in the order of their first events.
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
        """Return the trees with the greatest score."""
        top = max((tree.score for tree in self.by_key.values()), default=0)
        return [tree for tree in self.by_key.values() if tree.score == top]
