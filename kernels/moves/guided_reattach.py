"""Guided reattachment: move a mutation with its subtree below a parent, both drawn from the slot's guide.

With N(v, t) entries of the guide for moving v below t, the correction is N(v, p) / N(v, t) for the present
parent p. Nothing is proposed if t is p or a descendant of v, or if the guide cannot propose the reverse
move, N(v, p) = 0.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import REATTACH, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.guide import entry_of, first_of, log_at, second_of, whole_word
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.target import control, device_function

_ZERO = control(0)
_WIDE_ZERO = np.int64(0)


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    is_descendant, parent_of = relations.is_descendant, relations.parent_of
    pruned, null = control(kinds.first), control(kinds.null)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments, and those of the guide
        draw,  # IN Draw; its second is a random word
        mutations,  # IN control
    ):
        """Propose an entry of the guide."""
        number = slot.here.number
        entry = entry_of(slot.given.guide_edges, number, draw.second, mutations)
        v, t = first_of(entry), second_of(entry)
        present = parent_of(slot, v)
        reverse = log_at(slot.given.guide_logs, number, mutations, v, present)
        if t == present or reverse < _WIDE_ZERO:
            return nothing(null, v)
        if is_descendant(slot, t, v) != _ZERO:
            return nothing(null, v)
        forward = log_at(slot.given.guide_logs, number, mutations, v, t)
        return Proposal(pruned, REATTACH, v, v, t, reverse - forward)

    return propose


MOVE = Move(kinds=1, second=whole_word, make_propose=make_propose)
