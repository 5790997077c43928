"""Move: a node exchanges its label with its parent. It is symmetric, and does nothing below the root."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain import parts as numpy_parts
from syclade.fallback.chain.parts import Draws, Proposals
from syclade.host.chains.moves import Move
from syclade.kernels.chain import parts as device_parts
from syclade.kernels.chain.edits import EXCHANGE_LABELS, Proposal
from syclade.kernels.chain.parts import Kinds, Relations
from syclade.kernels.moves.nothing import nothing
from syclade.kernels.target import device_function

_ZERO = np.int64(0)


@device_function
def second(word: Any, first: Any, mutations: Any) -> Any:
    """Return the first node: nothing else is drawn."""
    return first


def make_propose(relations: Relations, kinds: Kinds) -> Any:
    """Return the device function of the move."""
    parent_of = relations.parent_of
    exchanged, null = np.int64(kinds.first), np.int64(kinds.null)

    @device_function
    def propose(slot: Any, draw: Any, mutations: Any) -> Any:
        """Propose v and its parent, or nothing if the parent is the root."""
        above = parent_of(slot, draw.v)
        if above == mutations:
            return nothing(null, draw.v)
        return Proposal(exchanged, EXCHANGE_LABELS, draw.v, above, draw.v, _ZERO)

    return propose


DEVICE = device_parts.Move(kinds=1, second=second, make_propose=make_propose)


def numpy_second(word: NDArray[Any], first: NDArray[Any], mutations: int) -> NDArray[Any]:
    """Return the first node: nothing else is drawn."""
    return first


def propose(trees: numpy_parts.Relations, draws: Draws, mutations: int) -> Proposals:
    """Propose the same in numpy."""
    v = draws.v
    above = trees.parent_of(v)
    still = above == mutations
    kind, edit = np.where(still, -1, 0), np.where(still, numpy_parts.NOTHING, numpy_parts.EXCHANGE_LABELS)
    return Proposals(kind, edit, v, np.where(still, v, above), v, np.zeros_like(v))


NUMPY = numpy_parts.Move(kinds=1, second=numpy_second, propose=propose)

WITH_PARENT = Move(
    "exchange with parent", ("exchange with parent",), f"{__name__}:DEVICE", f"{__name__}:NUMPY"
)
