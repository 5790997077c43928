"""Swap node labels: two mutations swap places.

The proposal is symmetric (docs/model.md, "The chain").
"""

from typing import Any

from syclade.kernels.chain.edits import EXCHANGE_LABELS, NO_CORRECTION, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.moves.words import second_node
from syclade.kernels.target import control, device_function

_ONE = control(1)


def make_propose(_relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    swapped, null = control(kinds.first), control(kinds.null)

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        draw,  # IN Draw; its second is uniform among the other mutations
        mutations,  # IN control
    ):
        """Propose two distinct mutations, or nothing if there is only one."""
        if mutations == _ONE:
            return nothing(null, draw.v)
        return Proposal(swapped, EXCHANGE_LABELS, draw.v, draw.second, draw.v, NO_CORRECTION)

    return propose


MOVE = Move(kinds=1, second=second_node, make_propose=make_propose)
