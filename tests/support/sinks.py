"""Consumers of events: distinct trees with their counts, and scores over the steps of each chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event


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


class Trace:
    """Step numbers and scores of events, chain by chain.

    Args:
        why: take only events whose `why` has one of these bits; by default all events.
    """

    def __init__(self, why: int | None = None) -> None:
        self._why = why
        self._steps: dict[int, list[int]] = {}
        self._scores: dict[int, list[int]] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if self._why is None or event.why & self._why:
                self._steps.setdefault(event.chain, []).append(event.step)
                self._scores.setdefault(event.chain, []).append(event.score)

    @property
    def chains(self) -> list[int]:
        """Numbers of the chains that had events, in order."""
        return sorted(self._steps)

    def of(self, chain: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return steps done and scores (in units of 2^-f nat) of a chain's events: int64, shape (events,)."""
        return (
            np.array(self._steps.get(chain, []), dtype=np.int64),
            np.array(self._scores.get(chain, []), dtype=np.int64),
        )
