"""Prune and reattach (the mirror of `kernels/moves/prune_and_reattach.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import REATTACH, Draws, Move, Proposals, Relations
from syclade.fallback.moves.words import any_node, draw_below


def second(word: NDArray[Any], first: NDArray[Any], mutations: int) -> NDArray[Any]:
    """Return the candidate for the new parent, any node."""
    return any_node(word, mutations)


def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
    """Attach v below a candidate or, if that is a descendant, below a non-descendant of random rank."""
    v, t = draws.v, draws.second
    (wrong,) = trees.is_descendant(t, v).nonzero()
    if wrong.size:
        those, pruned = trees.of(wrong), v[wrong]
        outside = mutations + 1 - those.subtree_size(pruned)
        t = t.copy()
        t[wrong] = those.select(pruned, False, draw_below(draws.extra[wrong], outside))
    none = np.zeros(len(v), dtype=np.int64)
    return Proposals(none, none + REATTACH, v, v, t, none)


MOVE = Move(kinds=1, second=second, propose=propose)
