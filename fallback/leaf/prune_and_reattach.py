"""Prune and reattach (the mirror of `kernels/clade/moves/prune_and_reattach.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import NOTHING, REATTACH, Draws, Move, Proposals, Relations
from syclade.fallback.moves.prune_and_reattach import second
from syclade.fallback.moves.words import draw_below


def propose(trees: Relations, draws: Draws, root: int) -> Proposals:
    """Attach a node above a candidate, or above a second one; the tree stays if neither is possible."""
    node = draws.v
    above = trees.parent_of(node)

    def stands_aside(t: NDArray[Any]) -> NDArray[np.bool_]:
        return ~trees.is_descendant(t, node) & (t != above)

    t = np.where(stands_aside(draws.second), draws.second, draw_below(draws.extra, root + 1))
    fits = stands_aside(t)
    is_there = trees.parent_of(t) == above
    none = np.zeros(len(node), dtype=np.int64)
    edit = np.where(fits & ~is_there, REATTACH, NOTHING)
    return Proposals(none - ~fits, edit, node, node, np.where(fits, t, node), none)


MOVE = Move(kinds=1, second=second, propose=propose)
