"""Swap leaves (the mirror of `kernels/clade/moves/swap_leaves.py`)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, Draws, Move, Proposals, Trees
from syclade.fallback.moves.words import draw_below


def propose(trees: Trees, draws: Draws, root: int) -> Proposals:
    """Two distinct cells change places."""
    one = draw_below(draws.word, root // 2 + 1)
    other = draw_below(draws.extra, root // 2)
    other = other + (other >= one)
    slot = np.arange(len(one))
    together = trees.parent[slot, one] == trees.parent[slot, other]
    edit = np.where(together, NOTHING, EXCHANGE_LABELS)
    none = np.zeros_like(one)
    return Proposals(none, edit, one, other, one, none)


MOVE = Move(kinds=1, propose=propose)
