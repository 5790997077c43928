"""Swap node labels (the mirror of `kernels/moves/swap_labels.py`)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_LABELS, Draws, Move, Proposals, Relations
from syclade.fallback.moves.nothing import nothing
from syclade.fallback.moves.words import second_node


def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
    """Swap two distinct mutations."""
    v = draws.v
    if mutations == 1:
        return nothing(v)
    none = np.zeros(len(v), dtype=np.int64)
    return Proposals(none, none + EXCHANGE_LABELS, v, draws.second, v, none)


MOVE = Move(kinds=1, second=second_node, propose=propose)
