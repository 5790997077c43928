"""Swap leaves (the mirror of `kernels/clade/moves/swap_leaves.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, Draws, Move, Proposals, Relations
from syclade.fallback.moves.words import draw_below


def second(word: NDArray[Any], first: NDArray[Any], root: int) -> NDArray[np.int64]:
    """Return one of the cells."""
    return draw_below(word, root // 2 + 1)


def propose(trees: Relations, draws: Draws, root: int) -> Proposals:
    """Swap two distinct cells."""
    one, other = draws.second, draw_below(draws.extra, root // 2)
    other = other + (other >= one)
    together = trees.parent_of(one) == trees.parent_of(other)
    edit = np.where(together, NOTHING, EXCHANGE_LABELS)
    none = np.zeros(len(one), dtype=np.int64)
    return Proposals(none, edit, one, other, one, none)


MOVE = Move(kinds=1, second=second, propose=propose)
