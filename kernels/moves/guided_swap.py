"""Guided swap of node labels: two mutations drawn from the slot's guide swap places.

The pair does not depend on the tree, so the proposal is symmetric.
"""

from typing import Any

from syclade.kernels.chain.edits import EXCHANGE_LABELS, NO_CORRECTION, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.guide import entry_of, first_of, second_of, whole_word
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.target import control, device_function

_ONE = control(1)


def make_propose(_relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    swapped, null = control(kinds.first), control(kinds.null)

    @device_function
    def propose(
        slot,  # IN the guide's arguments
        draw,  # IN Draw; its second is a random word
        mutations,  # IN control
    ):
        """Propose an entry of the guide, or nothing if there is only one mutation."""
        if mutations == _ONE:
            return nothing(null, draw.v)
        entry = entry_of(slot.given.guide_swaps, slot.here.number, draw.second, mutations)
        v, w = first_of(entry), second_of(entry)
        return Proposal(swapped, EXCHANGE_LABELS, v, w, v, NO_CORRECTION)

    return propose


MOVE = Move(kinds=1, second=whole_word, make_propose=make_propose)
