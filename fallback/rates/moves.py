"""Moves on rates (the mirror of `kernels/rates/moves.py`); steps.py looks up the length of a jump."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import JUMP_RATE, Draws, Move, Proposals, Relations

FN, FP, DOUBLETS = range(3)


def reflected(place: NDArray[np.int64], points: Any) -> NDArray[np.int64]:
    """Return the grid point, reflected at the ends of the grid."""
    inside = np.where(place < 0, -1 - place, place)
    return np.where(inside < points, inside, 2 * points - 1 - inside)


def second(word: NDArray[Any], first: NDArray[Any], mutations: int) -> NDArray[np.int64]:
    """Return twice the index of the jump's length, plus 1 if it goes down."""
    return (word >> np.uint64(23)).astype(np.int64)


def _make(rate: int) -> Move:
    def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
        """Propose a jump: v is the draw, w is the rate."""
        none = np.zeros(len(draws.v), dtype=np.int64)
        return Proposals(none, none + JUMP_RATE, draws.second, none + rate, none, none)

    return Move(kinds=1, second=second, propose=propose)


LEARN_FN = _make(FN)

LEARN_FP = _make(FP)

LEARN_DOUBLETS = _make(DOUBLETS)
