"""The moves on rates (the mirror of `kernels/rates/moves.py`); what a jump is long, steps.py looks up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import JUMP_RATE, Draws, Move, Proposals, Trees

FN, FP = 0, 1


def reflected(place: NDArray[np.int64], points: Any) -> NDArray[np.int64]:
    """The place on the grid: outside, as far inside as it is beyond."""
    inside = np.where(place < 0, -1 - place, place)
    return np.where(inside < points, inside, 2 * points - 1 - inside)


def _make(rate: int) -> Move:
    def propose(trees: Trees, draws: Draws, mutations: int) -> Proposals:
        """v is twice the number of the jump's length, and 1 more where it goes down; w is the rate."""
        none = np.zeros_like(draws.v)
        jump = (draws.word >> np.uint64(23)).astype(np.int64)
        return Proposals(none, np.full_like(none, JUMP_RATE), jump, np.full_like(none, rate), none, none)

    return Move(kinds=1, propose=propose)


LEARN_FN = _make(FN)

LEARN_FP = _make(FP)
