"""Prune and reattach (the mirror of `kernels/clade/moves/prune_and_reattach.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import NOTHING, REATTACH, Draws, Move, Proposals, Trees
from syclade.fallback.chain.trees import is_descendant
from syclade.fallback.moves.words import any_node, draw_below


def propose(trees: Trees, draws: Draws, root: int) -> Proposals:
    """A node goes above a candidate, or above a second one; the tree stays if neither will do."""
    node = draws.v
    slot = np.arange(len(node))
    above = trees.parent[slot, node]

    def stands_aside(t: NDArray[Any]) -> NDArray[np.bool_]:
        return ~is_descendant(trees.below, t, node) & (t != above)

    first, second = any_node(draws.word, root), draw_below(draws.extra, root + 1)
    t = np.where(stands_aside(first), first, second)
    fits = stands_aside(t)
    is_there = trees.parent[slot, t] == above
    none = np.zeros_like(node)
    edit = np.where(fits & ~is_there, REATTACH, NOTHING)
    return Proposals(none - ~fits, edit, node, node, np.where(fits, t, node), none)


MOVE = Move(kinds=1, propose=propose)
