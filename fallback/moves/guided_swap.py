"""Guided swap of node labels (the mirror of `kernels/moves/guided_swap.py`)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_LABELS, Draws, Move, Proposals, Relations
from syclade.fallback.moves.guide import entries_of, whole_word
from syclade.fallback.moves.nothing import nothing


def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
    """Swap two mutations, an entry of the guide."""
    if mutations == 1:
        return nothing(draws.v)
    v, w = entries_of(draws.given["guide_swaps"], draws)
    none = np.zeros(len(v), dtype=np.int64)
    return Proposals(none, none + EXCHANGE_LABELS, v, w, v, none)


MOVE = Move(kinds=1, second=whole_word, propose=propose)
