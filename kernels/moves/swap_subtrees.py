"""Swap subtrees: two mutations swap places together with their subtrees (docs/model.md, "The chain").

If they are unrelated, they exchange parents, and the proposal is symmetric. If they are related, the lower
one, v, moves to the parent of the upper one, w, and w moves below a node that is uniform among the
descendants of v. With C the descendants of v, and B those of w that are not in C, the correction is |C| /
|B|: in the reverse move, the new parent of v is one of the |B| nodes that are then below w.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_SUBTREES, NO_CORRECTION, TURN_OVER, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.moves.words import draw_below, second_node
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move; unrelated and related swaps are counted apart."""
    is_descendant, subtree_size, select = relations.is_descendant, relations.subtree_size, relations.select
    unrelated, related, null = control(kinds.first), control(kinds.first + 1), control(kinds.null)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        draw,  # IN Draw; its second is uniform among the other mutations
        mutations,  # IN control
    ):
        """Propose two distinct mutations, or nothing if there is only one."""
        if mutations == _ONE:
            return nothing(null, draw.v)
        v_below = is_descendant(slot, draw.v, draw.second)
        w_below = is_descendant(slot, draw.second, draw.v)
        if v_below + w_below == _ZERO:
            return Proposal(unrelated, EXCHANGE_SUBTREES, draw.v, draw.second, draw.v, NO_CORRECTION)
        lower = draw.v * v_below + draw.second * w_below
        upper = draw.second * v_below + draw.v * w_below
        size_c = subtree_size(slot, lower)
        size_b = subtree_size(slot, upper) - size_c
        rank = control(draw_below(draw.extra, np.uint64(size_c)))
        t = select(slot, lower, _ONE, rank)
        correction = draw.log_sizes[draw.logs + address(size_c)] - draw.log_sizes[draw.logs + address(size_b)]
        return Proposal(related, TURN_OVER, lower, upper, t, correction)

    return propose


MOVE = Move(kinds=2, second=second_node, make_propose=make_propose)
