"""Prune and reattach: move a mutation with its subtree below a node that is not a descendant of it.

The new parent is uniform among the non-descendants, the root included. So the proposal is symmetric
(docs/model.md, "The chain").
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import NO_CORRECTION, REATTACH, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.words import any_node, draw_below
from syclade.kernels.target import control, device_function

_ZERO = control(0)
_ONE = control(1)


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    is_descendant, subtree_size, select = relations.is_descendant, relations.subtree_size, relations.select
    pruned = control(kinds.first)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        draw,  # IN Draw; its second is a candidate, uniform among all nodes
        mutations,  # IN control
    ):
        """Propose the candidate; if it is a descendant of v, the non-descendant of a random rank."""
        t = draw.second
        if is_descendant(slot, t, draw.v) != _ZERO:
            others = mutations + _ONE - subtree_size(slot, draw.v)
            rank = control(draw_below(draw.extra, np.uint64(others)))
            t = select(slot, draw.v, _ZERO, rank)
        return Proposal(pruned, REATTACH, draw.v, draw.v, t, NO_CORRECTION)

    return propose


MOVE = Move(kinds=1, second=any_node, make_propose=make_propose)
