"""Prune and reattach: a node with its subtree moves to another edge (docs/model.md, "Cell-leaf trees").

The proposal is symmetric: the nodes that a candidate may not be are those of the subtree and the internal
node above it, as many before the move as after it.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import NO_CORRECTION, NOTHING, REATTACH, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.moves.words import any_node, draw_below
from syclade.kernels.target import control, device_function

_ZERO = control(0)
_ONE = control(1)


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    is_descendant, parent_of = relations.is_descendant, relations.parent_of
    pruned, null = control(kinds.first), control(kinds.null)

    @device_function
    def stands_aside(
        slot,  # IN the encoding's arguments
        node,  # IN control
        above,  # IN control: the node's parent
        t,  # IN control: the candidate
    ):
        """Return 1 if t is neither in the node's subtree nor the internal node above it, else 0 (control)."""
        return (_ONE - is_descendant(slot, t, node)) * control(t != above)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        draw,  # IN Draw; v is uniform among all nodes except the root, its second among all nodes
        root,  # IN control: number of nodes except the root
    ):
        """Propose a candidate, or a second one, or nothing if neither is allowed."""
        node, t = draw.v, draw.second
        above = parent_of(slot, node)
        if stands_aside(slot, node, above, t) == _ZERO:
            t = control(draw_below(draw.extra, np.uint64(root + _ONE)))
            if stands_aside(slot, node, above, t) == _ZERO:
                return nothing(null, node)
        if parent_of(slot, t) == above:  # it is already there
            return Proposal(pruned, NOTHING, node, node, t, NO_CORRECTION)
        return Proposal(pruned, REATTACH, node, node, t, NO_CORRECTION)

    return propose


MOVE = Move(kinds=1, second=any_node, make_propose=make_propose)
