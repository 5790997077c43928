"""Consumer of events for the trees with the best score of SCITE's chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["OptimalTrees"]


class OptimalTrees:
    """Collects the distinct trees with the best score of all chains.

    They are returned in the order of chains and steps, whatever the order of events.

    Args:
        why: bits of the recorders of new and equal bests.
    """

    def __init__(self, why: int) -> None:
        self._why = why
        self._score: int | None = None
        self._found: dict[int, tuple[int, int, NDArray[np.int32]]] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if not event.why & self._why or (self._score is not None and event.score < self._score):
                continue
            if self._score is None or event.score > self._score:
                self._score = event.score
                self._found.clear()
            known = self._found.get(event.key)
            if known is None or (event.chain, event.step) < known[:2]:
                self._found[event.key] = (event.chain, event.step, event.parents)

    def trees(self, best: NDArray[np.int32], key: int) -> list[NDArray[np.int32]]:
        """Return all of them, including the best tree: no event reports a tree that a chain has started with.

        Args:
            best: int32, shape (n + 1,): the tree with the best score.
            key: its key.
        """
        found = sorted(self._found.values(), key=lambda one: one[:2])
        known = [] if key in self._found else [best]
        return [*known, *(parents for _, _, parents in found)]
