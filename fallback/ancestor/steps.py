"""Many steps of all slots' chains on ancestor matrices: the stages, one after another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import ChainParts
from syclade.fallback.ancestor.rows import parents_from
from syclade.fallback.ancestor.stages import STAGES
from syclade.fallback.chain.parts import Move, Recorder, Score
from syclade.fallback.recorders.ring import record, wanted


class AncestorSteps:
    """Chain steps on ancestor matrices, a step of all slots at a time.

    Args:
        moves: ways to propose.
        score: the worth of a cell.
        recorders: which states leave the chain.
        events: length of a slot's ring.
    """

    def __init__(
        self, moves: Sequence[Move], score: Score, recorders: Sequence[Recorder] = (), events: int = 0
    ) -> None:
        self._parts = ChainParts(moves, score)
        self._recorders, self._events = recorders, events

    memory_bytes = 0
    """Nothing is kept besides the arrays."""

    def advance(self, state: dict[str, NDArray[Any]], _seed: int) -> None:
        """Take every slot from `step` to `last_step`, or until its ring is full; in place."""
        while (slots := self._active(state)).size:
            step, best = state["step"][slots], state["best_score"][slots]
            accepted_before = self._accepted(state, slots)
            for stage in STAGES.values():
                stage(state, slots, self._parts)
            if self._recorders:
                self._record(state, slots, step, best, self._accepted(state, slots) > accepted_before)

    def _active(self, state: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
        """The slots that have steps to do, and room for their events."""
        going = state["step"] < state["last_step"]
        if self._recorders:
            going = going & (state["event_count"] < self._events)
        return np.flatnonzero(going)

    def _accepted(self, state: dict[str, NDArray[Any]], slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of accepted steps, the second half of the tallies, (slots,)."""
        tallies = state["tallies"][slots]
        counted: NDArray[np.int64] = tallies[:, tallies.shape[1] // 2 :].sum(axis=1)
        return counted

    def _record(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[np.int64],
        step: NDArray[np.int64],
        best: NDArray[np.int64],
        accepted: NDArray[np.bool_],
    ) -> None:
        why = wanted(state, self._recorders, slots, step, state["score"][slots], best, accepted)
        at, nodes = np.flatnonzero(why), int(state["parameters"][0]) + 1
        trees = parents_from(state["ancestors"][slots[at]], nodes)
        record(state, slots[at], step[at], state["score"][slots[at]], why[at], trees)
