"""Swap leaves: two cells swap places. The proposal is symmetric."""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, NO_CORRECTION, NOTHING, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.words import draw_below
from syclade.kernels.target import control, device_function

_ONE = control(1)


@device_function
def any_leaf(word_2, first, root):
    """Return a leaf, uniform among all of them (uint64)."""
    return draw_below(word_2, (root >> np.uint64(1)) + np.uint64(1))


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    parent_of = relations.parent_of
    swapped = control(kinds.first)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        draw,  # IN Draw; its second is uniform among the leaves
        root,  # IN control: number of nodes except the root, 2 * (leaves - 1)
    ):
        """Propose two distinct cells; there are at least two."""
        one = draw.second
        other = control(draw_below(draw.extra, np.uint64(root >> _ONE)))
        other = other + control(other >= one)
        if parent_of(slot, one) == parent_of(slot, other):
            return Proposal(swapped, NOTHING, one, other, one, NO_CORRECTION)
        return Proposal(swapped, EXCHANGE_LABELS, one, other, one, NO_CORRECTION)

    return propose


MOVE = Move(kinds=1, second=any_leaf, make_propose=make_propose)
