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
    """Chain steps on ancestor matrices, one step of all slots at a time.

    Args:
        moves: the moves, which propose edits.
        score: the score of a cell.
        recorders: select the states that chains emit.
        events: length of a slot's ring buffer.
    """

    def __init__(
        self, moves: Sequence[Move], score: Score, recorders: Sequence[Recorder] = (), events: int = 0
    ) -> None:
        self._parts = ChainParts(moves, score)
        self._recorders, self._events = recorders, events

    memory_bytes = 0
    """Memory kept besides the arrays: none."""

    def advance(self, state: dict[str, NDArray[Any]], _seed: int) -> None:
        """Advance every slot in place from `step` to `last_step`, or until its ring buffer is full."""
        while (slots := self._active(state)).size:
            step, best = state["step"][slots], state["best_score"][slots]
            accepted_before = self._accepted(state, slots)
            self._step(state, slots)
            if self._recorders:
                self._record(state, slots, step, best, self._accepted(state, slots) > accepted_before)

    def _step(self, state: dict[str, NDArray[Any]], slots: NDArray[np.int64]) -> None:
        """Take one step of the chains in these slots."""
        for stage in STAGES.values():
            stage(state, slots, self._parts)

    def _active(self, state: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
        """Return the slots that have steps left and room for their events."""
        going = state["step"] < state["last_step"]
        if self._recorders:
            going = going & (state["event_count"] < self._events)
        return np.flatnonzero(going)

    def _accepted(self, state: dict[str, NDArray[Any]], slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of accepted steps, the second half of the tallies, (slots,)."""
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
