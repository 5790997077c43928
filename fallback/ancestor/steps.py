"""Many steps of all slots' chains on ancestor matrices: the stages, one after another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import ChainParts
from syclade.fallback.ancestor.stages import STAGES
from syclade.fallback.chain.parts import Move, Recorder, Score


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
        self._parts = ChainParts(moves, score, recorders)
        self._events = events

    memory_bytes = 0
    """Memory kept besides the arrays: none."""

    def advance(self, state: dict[str, NDArray[Any]], _seed: int) -> None:
        """Advance every slot in place from `step` to `last_step`, or until its ring buffer is full."""
        while (slots := self._active(state)).size:
            for stage in STAGES.values():
                stage(state, slots, self._parts)

    def _active(self, state: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
        """Return the slots that have steps left and room for their events."""
        going = state["step"] < state["last_step"]
        if self._parts.recorders:
            going = going & (state["event_count"] < self._events)
        return np.flatnonzero(going)
