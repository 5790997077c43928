"""Swap node labels (the mirror of `kernels/moves/swap_labels.py`)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_LABELS, Draws, Move, Proposals, Trees
from syclade.fallback.moves.nothing import nothing
from syclade.fallback.moves.words import second_node


def propose(trees: Trees, draws: Draws, mutations: int) -> Proposals:
    """Two distinct mutations change places."""
    v = draws.v
    if mutations == 1:
        return nothing(v)
    none = np.zeros_like(v)
    w = second_node(draws.word, v, mutations)
    return Proposals(none, np.full_like(v, EXCHANGE_LABELS), v, w, v, none)


MOVE = Move(kinds=1, propose=propose)
