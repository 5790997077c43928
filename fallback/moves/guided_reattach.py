"""Guided reattachment (the mirror of `kernels/moves/guided_reattach.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import NOTHING, REATTACH, Draws, Move, Proposals, Relations
from syclade.fallback.moves.guide import entries_of, whole_word


def propose(trees: Relations, draws: Draws, mutations: int) -> Proposals:
    """Move v below t, an entry of the guide; nothing if it is no move, or has no reverse."""
    v, t = entries_of(draws.given["guide_edges"], draws)
    present, none = trees.parent_of(v).astype(np.int64), np.zeros(len(v), dtype=np.int64)
    reverse, forward = (_log_at(draws, mutations, v, parent) for parent in (present, t))
    still = (t == present) | (reverse < 0) | trees.is_descendant(t, v)
    correction = np.where(still, 0, reverse - forward)
    edit = np.where(still, NOTHING, REATTACH)
    return Proposals(none - still, edit, v, v, np.where(still, v, t), correction)


def _log_at(draws: Draws, mutations: int, v: NDArray[Any], parent: NDArray[Any]) -> NDArray[np.int64]:
    """Return ln(number of entries) / gamma of pairs of a mutation and a parent."""
    logs: NDArray[Any] = draws.given["guide_logs"][draws.slots, v * (mutations + 1) + parent]
    return logs.astype(np.int64)


MOVE = Move(kinds=1, second=whole_word, propose=propose)
