"""Swap node labels: two mutations change places. As probable there as back (docs/model.md, "The chain")."""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.moves.words import second_node
from syclade.kernels.target import device_function

_ZERO = np.int64(0)
_ONE = np.int64(1)


def make_propose(_relations: Relations, kinds: Kinds) -> Any:
    """Device function of the move."""
    swapped, null = np.int64(kinds.first), np.int64(kinds.null)

    @device_function
    def propose(
        given,  # IN the encoding's arguments
        here,  # IN where the slot's stand in them
        base,  # IN uint64
        draw,  # IN Draw; its second is uniform among the other mutations
        mutations,  # IN int64
    ):
        """Two distinct mutations; nothing where there is only one."""
        if mutations == _ONE:
            return nothing(null, draw.v)
        return Proposal(swapped, EXCHANGE_LABELS, draw.v, draw.second, draw.v, _ZERO)

    return propose


MOVE = Move(kinds=1, second=second_node, make_propose=make_propose)
