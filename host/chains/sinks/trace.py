"""Scores of every chain over its steps, for convergence diagnostics and plots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["Trace"]


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
