"""Prune and reattach (the mirror of `kernels/moves/prune_and_reattach.py`)."""

import numpy as np

from syclade.fallback.chain.parts import REATTACH, Draws, Move, Proposals, Trees
from syclade.fallback.chain.trees import is_descendant, select
from syclade.fallback.moves.words import any_node, draw_below


def propose(trees: Trees, draws: Draws, mutations: int) -> Proposals:
    """v goes below a candidate, or, if that is a descendant, below a non-descendant of a random rank."""
    v = draws.v
    t = any_node(draws.word, mutations)
    wrong = np.flatnonzero(is_descendant(trees.below, t, v))
    if wrong.size:
        outside = ~trees.below[wrong, v[wrong]]
        t[wrong] = select(outside, draw_below(draws.extra[wrong], outside.sum(axis=1)))
    none = np.zeros_like(v)
    return Proposals(none, np.full_like(v, REATTACH), v, v, t, none)


MOVE = Move(kinds=1, propose=propose)
