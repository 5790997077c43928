"""Slots of chain states that can be advanced: on one device (`Runner`), or shared by several places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Advanced
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.device.work import WorkDone

__all__ = ["Slots"]


class Slots(Protocol):
    """Slots of chain states, for one plan and seed; the methods are those of `Runner`.

    Attributes:
        plan: the parts of the chains.
        seed: seed of the random numbers.
        slots: number of chain states.
        returns_early: whether `advance` returns before all slots are at their targets, to report progress.
            It is then called again with the same targets.
        round_seconds: target length of a round between whose ends checkpoints are written.
    """

    plan: Plan
    seed: int
    slots: int
    returns_early: bool
    round_seconds: float

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps so far."""

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """See `Runner.put`."""

    def put_all(self, states: Sequence[ChainState]) -> None:
        """See `Runner.put_all`."""

    def get(self, slot: int) -> ChainState:
        """See `Runner.get`."""

    def info(self, slot: int) -> ChainInfo:
        """See `Runner.info`."""

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """See `Runner.advance`."""

    def best_scores(self) -> NDArray[np.int64]:
        """See `Runner.best_scores`."""

    def close(self) -> None:
        """See `Runner.close`."""
