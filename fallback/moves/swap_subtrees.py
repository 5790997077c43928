"""Swap subtrees (the mirror of `kernels/moves/swap_subtrees.py`, which has the correction's derivation)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_SUBTREES, TURN_OVER, Draws, Move, Proposals, Trees
from syclade.fallback.chain.trees import is_descendant, select
from syclade.fallback.moves.nothing import nothing
from syclade.fallback.moves.words import draw_below, second_node


def propose(trees: Trees, draws: Draws, mutations: int) -> Proposals:
    """Two distinct mutations change places with all below them."""
    if mutations == 1:
        return nothing(draws.v)
    first, second = draws.v, second_node(draws.word, draws.v, mutations)
    # Of related ones, v is the lower.
    turned = is_descendant(trees.below, second, first)
    v, w = np.where(turned, second, first), np.where(turned, first, second)
    related = turned | is_descendant(trees.below, first, second)
    t, correction = v.copy(), np.zeros_like(v)
    at = np.flatnonzero(related)
    if at.size:
        in_v = trees.below[at, v[at]]
        size_c = in_v.sum(axis=1)
        size_b = trees.below[at, w[at]].sum(axis=1) - size_c
        t[at] = select(in_v, draw_below(draws.extra[at], size_c))
        correction[at] = draws.log_sizes[at, size_c] - draws.log_sizes[at, size_b]
    edit = np.where(related, TURN_OVER, EXCHANGE_SUBTREES)
    return Proposals(related.astype(np.int64), edit, v, w, t, correction)


MOVE = Move(kinds=2, propose=propose)
