"""Swap subtrees (the mirror of `kernels/moves/swap_subtrees.py`, which has the correction's derivation)."""

import numpy as np

from syclade.fallback.chain.parts import EXCHANGE_SUBTREES, TURN_OVER, Draws, Move, Proposals, Relations
from syclade.fallback.moves.nothing import nothing
from syclade.fallback.moves.words import draw_below, second_node


def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
    """Swap two distinct mutations together with all below them."""
    if mutations == 1:
        return nothing(draws.v)
    first, second = draws.v, draws.second
    # If they are related, v is the lower one.
    turned = trees.is_descendant(second, first)
    v, w = np.where(turned, second, first), np.where(turned, first, second)
    related = turned | trees.is_descendant(first, second)
    t, correction = v.copy(), np.zeros(len(v), dtype=np.int64)
    (at,) = related.nonzero()
    if at.size:
        those, lower = trees.of(at), v[at]
        size_c = those.subtree_size(lower)
        size_b = those.subtree_size(w[at]) - size_c
        t[at] = those.select(lower, True, draw_below(draws.extra[at], size_c))
        logs = draws.of(at)
        correction[at] = logs.log_of(size_c) - logs.log_of(size_b)
    edit = np.where(related, TURN_OVER, EXCHANGE_SUBTREES)
    return Proposals(related.astype(np.int64), edit, v, w, t, correction)


MOVE = Move(kinds=2, second=second_node, propose=propose)
